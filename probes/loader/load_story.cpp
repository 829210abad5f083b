#include "probes/loader/load_story.hpp"

#include <algorithm>

#include "probes/base/paths.hpp"
#include "probes/look.hpp"

namespace sage {

LoadStory tell_loads(LoaderFiles& files, const std::string& program, const std::vector<std::string>& opened) {
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
  for (const std::string& name : opened) {
    if (dead) break;
    const Loader before = loader;
    LoadStage stage;
    stage.name = name;
    stage.first = loader.objects().size();
    stage.request = loader.open(name);
    stage.objects = loader.objects();
    stage.missing = loader.missing(stage.first);
    if (!stage.request.object) stage.missing.insert(stage.missing.begin(), name);
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
