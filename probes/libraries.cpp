#include "probes/libraries.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/library_places.hpp"
#include "probes/loader/load_story.hpp"
#include "probes/loader/predictions.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

constexpr std::size_t maps_cap = 8 * 1024 * 1024;
constexpr std::size_t most_processes = 64;

/// The copies of one library as they were found, with what leads to them.
struct Search {
  RuntimeLibrary library;
  std::vector<FoundLibrary> found;
  std::vector<FoundLibrary> behind_cache;
  std::vector<FoundLibrary> behind_variable;
};

/// The distributions' packages tell the version of HIP alone.
SourcedVersion version_of_copy(const Host& host, RuntimeLibrary library, const LibraryPlace& place) {
  const bool hip = library == RuntimeLibrary::amdhip64 || library == RuntimeLibrary::hiprtc;
  if (hip && place.origin.is(LibraryOrigin::distribution)) return version_by_hip(host, "/usr");
  return version_of_place(host, place);
}

LibraryCopy describe(const Host& host, LoaderFiles& files, const Search& search, const FoundLibrary& found,
                     const Result<std::vector<LoaderCacheEntry>>& cache) {
  LibraryCopy copy;
  copy.path = found.path;
  copy.library = search.library;
  copy.other_paths = found.other_paths;
  copy.origin = found.place.origin;
  SourcedVersion version = version_of_copy(host, search.library, found.place);
  copy.rocm_version = std::move(version.version);
  copy.version_source = std::move(version.source);
  copy.in_loader_cache = cache.ok() ? Fact<bool>(contains_file(search.behind_cache, found.identity))
                                    : Fact<bool>::unknown(cache.error());
  copy.in_library_path = contains_file(search.behind_variable, found.identity);
  const LoaderFile* file = files.file(found.path);
  if (file != nullptr && file->elf != nullptr) {
    copy.soname = file->elf->soname;
    copy.build_id = file->elf->build_id;
  } else {
    const std::string why = file == nullptr ? found.path + ": can't be opened" : file->broken;
    copy.soname = copy.build_id = Fact<std::string>::unknown(why);
  }
  return copy;
}

/// Files with the same build-id are one copy, under the first path.
void add(LibraryCopy copy, std::vector<LibraryCopy>& copies) {
  const auto same = std::find_if(copies.begin(), copies.end(), [&](const LibraryCopy& other) {
    return copy.build_id.known() && !copy.build_id->empty() && other.build_id == copy.build_id &&
           other.library == copy.library;
  });
  if (same == copies.end()) return copies.push_back(std::move(copy));
  std::vector<std::string>& paths = same->other_paths.value();
  paths.push_back(std::move(copy.path));
  std::move(copy.other_paths->begin(), copy.other_paths->end(), std::back_inserter(paths));
  if (copy.in_loader_cache.is(true)) same->in_loader_cache = true;
  if (copy.in_library_path.is(true)) same->in_library_path = true;
}

/// Paths of runtime libraries in a /proc/<pid>/maps, each once.
std::vector<std::string> mapped_libraries(std::string_view maps) {
  std::vector<std::string> paths;
  for (const std::string_view line : lines(maps)) {
    const std::size_t slash = line.find('/');
    if (slash == std::string_view::npos) continue;
    std::string path(line.substr(slash));
    if (!runtime_library_of(file_name(path))) continue;
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(std::move(path));
  }
  return paths;
}

/// Of the user's own processes.
Fact<std::vector<MappingProcess>> mapping_processes(const Host& host) {
  const auto names = host.list_folder("/proc");
  if (!names) return Fact<std::vector<MappingProcess>>::unknown(names.error());
  const std::uint32_t uid = host.process().uid;
  std::vector<MappingProcess> processes;
  for (const std::string& name : *names) {
    if (!parse_number(name)) continue;
    const std::string folder = "/proc/" + name;
    const auto status = host.status(folder);
    if (!status || status->uid != uid) continue;
    const auto maps = host.read_file(folder + "/maps", maps_cap);
    if (!maps) continue;  // it ended, or keeps its maps to itself
    std::vector<std::string> paths = mapped_libraries(*maps);
    if (paths.empty()) continue;
    if (processes.size() == most_processes) break;
    processes.push_back({read_trimmed(host, folder + "/comm").value_or("process " + name), std::move(paths)});
  }
  return processes;
}

}  // namespace

Libraries probe_libraries(const Host& host, const ProbeOptions& options, const Python& python) {
  const auto roots = rocm_roots(host, options);
  const auto places = library_places(host, roots.value_or({}), python);
  const auto in_variable = library_path_places(host);
  const auto cache = host.loader_cache();
  LoaderFiles files(host, true);

  std::vector<LibraryCopy> copies;
  std::vector<FoundLibrary> all;
  for (const auto& [library, name] : enum_names<RuntimeLibrary>) {
    const std::string stem = std::string(name) + ".so";
    const std::vector<std::string> cached = cached_paths(cache.value_or({}), stem);
    const Search search{library, find_libraries(host, places, cached, stem), find_libraries(host, {}, cached, stem),
                        find_libraries(host, in_variable, {}, stem)};
    for (const FoundLibrary& found : search.found) add(describe(host, files, search, found, cache), copies);
    all.insert(all.end(), search.found.begin(), search.found.end());
  }

  Libraries facts;
  // An empty list is an answer only where /opt could be listed.
  if (copies.empty() && !roots) {
    facts.copies = Fact<std::vector<LibraryCopy>>::unknown(roots.error());
  } else {
    facts.copies = std::move(copies);
  }
  facts.predictions = predict_loads(files, python, all);
  facts.processes = options.deep ? mapping_processes(host)
                                 : Fact<std::vector<MappingProcess>>::unknown("looked at with --deep only");
  return facts;
}

}  // namespace sage
