#pragma once

#include <string>
#include <string_view>

#include "probes/facts/python.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// Describes <site>/triton by the names of its files and the text of its AMD backend.
[[nodiscard]] TritonInstall describe_triton(const Host& host, const std::string& site);

/// How a Triton looks for the HIP runtime, by the text of backends/amd/driver.py.
struct TritonSearch {
  Fact<bool> takes_numbered_name;
  bool takes_sdk_first = false;
  bool asks_hipconfig = false;
};
[[nodiscard]] TritonSearch triton_search(std::string_view driver, const std::string& file);

/// The value of __version__ in the text of triton/__init__.py; empty when there is none.
[[nodiscard]] std::string triton_version(std::string_view text);

}  // namespace sage
