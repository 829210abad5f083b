#pragma once

#include <string>

#include "probes/base/result.hpp"
#include "probes/host/descriptor.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// A log that is open for reading.
struct LogInput {
  Descriptor file;
  std::string name;  ///< without folders, or "stdin"
};

/// Opens a log by its path; empty or "-" is standard input. Says on stderr what it waits for, where that is a person at
/// a terminal, or the writer of a FIFO. The Error says what is wrong with the path and what to do.
[[nodiscard]] Result<LogInput> open_log(const std::string& path, const Host& host);

/// The next bytes; 0 at the end.
[[nodiscard]] Result<std::size_t> read_some(const LogInput& log, char* into, std::size_t size);

}  // namespace sage
