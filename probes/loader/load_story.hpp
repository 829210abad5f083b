#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/facts/libraries.hpp"
#include "probes/loader/loader.hpp"

namespace sage {

/// One thing that a process does: its start, or a dlopen(3).
struct LoadStage {
  std::string name;      ///< the program's file, or what dlopen got; empty: a program that stands for any
  LoaderRequest request;
  std::size_t first = 0;  ///< index of the first object that is new
  std::vector<LoadedObject> objects;  ///< after it, as if nothing had been missing
  std::vector<std::string> missing;   ///< with one of these it failed, and the process is left as it was before
  bool failed = false;
};

/// What a process does in order, and what it has in the end.
struct LoadStory {
  std::vector<LoadStage> stages;
  std::vector<LoaderRequest> preloads;
  std::vector<LoadedObject> process;
};

/// What a process opens by dlopen(3), and who calls it: the search path of the caller counts.
struct OpenCall {
  std::string name;
  std::string caller = {};  ///< path or file name of a loaded object; empty: the program
};

/// Starts `program` (empty: any plain one), then makes the calls. Ends early when the program can't start. A call by an
/// object that is not loaded fails.
[[nodiscard]] LoadStory tell_loads(LoaderFiles& files, const std::string& program, const std::vector<OpenCall>& calls);

/// Which of the runtime libraries a file is by its SONAME, or by its name where it has none.
[[nodiscard]] std::optional<RuntimeLibrary> runtime_library_of(std::string_view name);
[[nodiscard]] std::optional<RuntimeLibrary> runtime_library_of(const LoadedObject& object);

/// Objects that are a second (third ...) copy of a runtime library in one process, by index.
[[nodiscard]] std::vector<std::size_t> second_copies(const std::vector<LoadedObject>& objects);

}  // namespace sage
