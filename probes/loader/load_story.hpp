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

/// Starts `program` (empty: any plain one), then opens each of `opened` as the program itself would by dlopen(3). Ends
/// early when the program can't start.
[[nodiscard]] LoadStory tell_loads(LoaderFiles& files, const std::string& program,
                                   const std::vector<std::string>& opened);

/// Which of the runtime libraries a file is by its SONAME, or by its name where it has none.
[[nodiscard]] std::optional<RuntimeLibrary> runtime_library_of(std::string_view name);
[[nodiscard]] std::optional<RuntimeLibrary> runtime_library_of(const LoadedObject& object);

/// Objects that are a second (third ...) copy of a runtime library in one process, by index.
[[nodiscard]] std::vector<std::size_t> second_copies(const std::vector<LoadedObject>& objects);

}  // namespace sage
