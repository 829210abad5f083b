#include "probes/loader/load_story.hpp"

#include <algorithm>

#include "probes/base/paths.hpp"
#include "probes/look.hpp"

namespace sage {

namespace {

/// nullopt: no such object is loaded.
std::optional<std::size_t> caller_of(const OpenCall& call, const std::vector<LoadedObject>& objects) {
  if (call.caller.empty()) return 0;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (objects[i].path == call.caller || file_name(objects[i].path) == call.caller) return i;
  }
  return std::nullopt;
}

LoaderRequest not_called(const OpenCall& call) {
  LoaderRequest request;
  request.name = call.name;
  request.reason = call.caller + ", which should open it, is not loaded";
  return request;
}

}  // namespace

LoadStory tell_loads(LoaderFiles& files, const std::string& program, const std::vector<OpenCall>& calls) {
  Loader loader(files);
  if (program.empty()) {
    loader.start_plain({});
  } else {
    loader.start(program);
  }
  LoadStory story;
  story.preloads = loader.preloads();
  LoadStage start;
  start.name = program;
  start.request = {program, 0, true, false, LoaderRule::program, "the program", {}};
  start.objects = loader.objects();
  start.missing = loader.missing();
  start.failed = !start.missing.empty();
  const bool dead = start.failed;
  story.stages.push_back(std::move(start));
  for (const OpenCall& call : calls) {
    if (dead) break;
    const Loader before = loader;
    LoadStage stage;
    stage.name = call.name;
    stage.first = loader.objects().size();
    const auto caller = caller_of(call, loader.objects());
    stage.request = caller ? loader.open(call.name, *caller) : not_called(call);
    stage.objects = loader.objects();
    stage.missing = loader.missing(stage.first);
    if (!stage.request.object) stage.missing.insert(stage.missing.begin(), call.name);
    stage.failed = !stage.missing.empty();
    if (stage.failed) loader = before;
    story.stages.push_back(std::move(stage));
  }
  story.process = loader.objects();
  return story;
}

std::optional<RuntimeLibrary> runtime_library_of(std::string_view name) {
  for (const auto& [library, stem] : enum_names<RuntimeLibrary>) {
    if (!name.starts_with(stem)) continue;
    const std::string_view rest = name.substr(stem.size());
    if (rest == ".so" || rest.starts_with(".so.")) return library;
  }
  return std::nullopt;
}

std::optional<RuntimeLibrary> runtime_library_of(const LoadedObject& object) {
  return runtime_library_of(object.elf->soname.empty() ? file_name(object.path) : object.elf->soname);
}

std::vector<std::size_t> second_copies(const std::vector<LoadedObject>& objects) {
  std::vector<RuntimeLibrary> seen;
  std::vector<std::size_t> further;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto library = runtime_library_of(objects[i]);
    if (!library) continue;
    if (std::find(seen.begin(), seen.end(), *library) != seen.end()) {
      further.push_back(i);
    } else {
      seen.push_back(*library);
    }
  }
  return further;
}

}  // namespace sage
