// Which file does a process get when it asks for "libamdhip64.so.7"? The loader decides by rules that interact, so that
// two ROCm runtimes in one process are a matter of who asks first and how. They are modelled here after glibc's
// elf/dl-load.c and dl-deps.c; facts/wheels.md 2.9 has what was tried.
//
//   A name without a slash is looked for
//   1. among the objects loaded already: by every name they were asked for by, and by their DT_SONAME;
//   2. in DT_RPATH of the requester, of the object that loaded the requester, and so on up to the program; objects that
//      also have DT_RUNPATH have no DT_RPATH, and none of this happens when the requester itself has DT_RUNPATH;
//   3. in LD_LIBRARY_PATH;
//   4. in DT_RUNPATH of the requester alone;
//   5. in ld.so.cache;
//   6. in the default folders.
//   In a folder, glibc-hwcaps subfolders come first. A file for another class or machine is passed over, one that is
//   no ELF file ends the load, one that can't be opened ends the list of folders that it was found by.
//   A file that was found and is the same (device and inode) as one loaded already is that object, under one more name.
//
// What a program or a dlopen(3) needs is loaded breadth first. For dlopen the caller counts as the object that loads,
// so that DT_RPATH of the program (conda's interpreter has one) reaches into every extension without DT_RUNPATH.

#include "probes/loader/loader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

constexpr std::size_t most_objects = 2000;
constexpr const char* preload_file = "/etc/ld.so.preload";
constexpr std::array interpreters = {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"};

bool is_name_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/// Length of "$NAME" or "${NAME}" at the start of `text`; 0 when it does not stand there.
std::size_t token_length(std::string_view text, std::string_view name) {
  const bool braces = text.size() > 1 && text[1] == '{';
  const std::string_view rest = text.substr(braces ? 2 : 1);
  if (!rest.starts_with(name)) return 0;
  const char after = rest.size() > name.size() ? rest[name.size()] : '\0';
  if (braces) return after == '}' ? name.size() + 3 : 0;
  return is_name_character(after) ? 0 : name.size() + 1;
}

std::vector<std::string> split_any(const std::string& text, std::string_view separators) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (separators.find(c) != std::string_view::npos) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// An empty DT_RPATH or DT_RUNPATH is ignored as a whole (decompose_rpath).
bool is_empty(const std::vector<std::string>& folders) {
  return folders.empty() || (folders.size() == 1 && folders.front().empty());
}

}  // namespace

std::string Loader::absolute(const std::string& path) const {
  return path.starts_with('/') ? path : files_->host().process().working_folder + "/" + path;
}

std::string Loader::short_name(std::size_t object) const {
  const std::string& path = objects_[object].path;
  return path.empty() ? "the program" : file_name(path);
}

std::string Loader::triplet() const {
  return machine_ + "-linux-gnu";
}

/// Debian and its children keep libraries in folders named after the machine.
bool Loader::multiarch() {
  return files_->is_folder("/lib/" + triplet());
}

std::string Loader::expanded(const std::string& text, const std::string& origin) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = std::string_view(text).substr(i);
    std::size_t length = 0;
    if (rest.front() == '$') {
      if ((length = token_length(rest, "ORIGIN")) != 0) {
        result += origin;
      } else if ((length = token_length(rest, "LIB")) != 0) {
        result += multiarch() ? "lib/" + triplet() : std::string(bits_ == 64 ? "lib64" : "lib");
      } else if ((length = token_length(rest, "PLATFORM")) != 0) {
        result += machine_ == "x86_64" ? files_->platform() : machine_;
      }
    }
    if (length == 0) {
      result += rest.front();
      length = 1;
    }
    i += length;
  }
  return result;
}

std::vector<std::string> Loader::expanded(const std::vector<std::string>& folders, const std::string& origin) {
  std::vector<std::string> result;
  for (const std::string& folder : folders) {
    std::string path = absolute(folder.empty() ? "." : expanded(folder, origin));
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    result.push_back(std::move(path));
  }
  return result;
}

/// The loader itself is in the process before anything is asked for; the C library needs it by its SONAME.
void Loader::add_interpreter() {
  for (const char* path : interpreters) {
    const LoaderFile* file = files_->file(path);
    if (file == nullptr || file->elf == nullptr) continue;
    if (machine_known_ && file->elf->machine != machine_) continue;
    LoadedObject object;
    object.path = path;
    object.identity = file->identity;
    object.elf = file->elf;
    object.origin = parent_folder(path);
    objects_.push_back(std::move(object));
    bits_ = file->elf->bits;
    machine_ = file->elf->machine;
    machine_known_ = true;
    return;
  }
}

void Loader::begin(LoadedObject program) {
  if (!program.path.empty() && !program.elf->machine.empty()) {
    bits_ = program.elf->bits;
    machine_ = program.elf->machine;
    machine_known_ = true;
  }
  objects_.push_back(std::move(program));
  add_interpreter();
  const auto variables = files_->host().environment();
  const auto value = variables.find("LD_LIBRARY_PATH");
  if (value != variables.end() && !value->second.empty()) {
    library_path_ = expanded(split_any(value->second, ":;"), objects_.front().origin);
  }
  if (const auto preloaded = variables.find("LD_PRELOAD"); preloaded != variables.end()) preload(preloaded->second);
  if (const auto text = files_->host().read_file(preload_file)) preload(*text);
  map_needs(0);
}

void Loader::preload(const std::string& list) {
  for (const std::string& name : split_any(list, ": \t\n")) {
    if (name.empty()) continue;
    // What can't be preloaded is told on stderr and passed over.
    preloads_.push_back(map(name, 0));
    preloads_.back().reason = "preloaded; " + preloads_.back().reason;
  }
}

void Loader::start(const std::string& path) {
  const std::string place = absolute(path);
  const LoaderFile* file = files_->file(place);
  if (file == nullptr || file->elf == nullptr) return start_plain({});
  LoadedObject program;
  program.path = place;
  program.identity = file->identity;
  program.elf = file->elf;
  program.origin = parent_folder(file->identity.canonical);  // by /proc/self/exe
  begin(std::move(program));
}

void Loader::start_plain(const std::vector<std::string>& needed) {
  ElfFacts elf;
  elf.needed = needed;
  LoadedObject program;
  program.elf = std::make_shared<const ElfFacts>(std::move(elf));
  program.origin = "/usr/bin";
  begin(std::move(program));
}

LoaderRequest Loader::open(const std::string& name, std::size_t caller) {
  const std::size_t first = objects_.size();
  LoaderRequest request = map(name, caller);
  map_needs(first);
  return request;
}

LoaderRequest Loader::open_described(const ElfFacts& elf, const std::string& folder, const std::string& name) {
  const std::size_t first = objects_.size();
  LoadedObject object;
  object.path = folder + "/" + name;
  object.identity.canonical = object.path;
  object.elf = std::make_shared<const ElfFacts>(elf);
  object.origin = folder;
  object.names = {object.path};
  object.loader = 0;
  objects_.push_back(std::move(object));
  map_needs(first);
  return {objects_[first].path, first, true, false, LoaderRule::path, "by its path", {}};
}

void Loader::map_needs(std::size_t first) {
  for (std::size_t i = first; i < objects_.size(); ++i) {
    const std::shared_ptr<const ElfFacts> elf = objects_[i].elf;
    for (const std::string& name : elf->needed) {
      LoaderRequest request = map(name, i);
      objects_[i].requests.push_back(std::move(request));
    }
  }
}

std::vector<std::string> Loader::missing(std::size_t first) const {
  std::vector<std::string> names;
  for (std::size_t i = first; i < objects_.size(); ++i) {
    for (const LoaderRequest& request : objects_[i].requests) {
      if (!request.object && std::find(names.begin(), names.end(), request.name) == names.end()) {
        names.push_back(request.name);
      }
    }
  }
  return names;
}

bool Loader::loaded_already(const std::string& name, LoaderRequest& request) {
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    const LoadedObject& object = objects_[i];
    const bool by_name = object.path == name ||
                         std::find(object.names.begin(), object.names.end(), name) != object.names.end();
    if (!by_name && object.elf->soname != name) continue;
    request.object = i;
    request.rule = by_name ? LoaderRule::loaded_name : LoaderRule::loaded_soname;
    request.reason = by_name ? "already loaded under this name" : "already loaded, its SONAME is this";
    return true;
  }
  return false;
}

Loader::Tried Loader::take(const std::string& path, LoaderRequest& request, std::size_t requester) {
  const LoaderFile* file = files_->file(path);
  if (file == nullptr) return Tried::nothing;
  if (!file->opens) {
    request.passed_over.push_back(file->broken);
    return Tried::list_ends;
  }
  if (file->elf == nullptr) {
    request.rule = LoaderRule::broken;
    request.reason = file->broken;
    return Tried::settled;
  }
  // A capture may leave the machine out.
  const bool other_machine = !file->elf->machine.empty() && !machine_.empty() && file->elf->machine != machine_;
  if (machine_known_ && (file->elf->bits != bits_ || other_machine)) {
    request.passed_over.push_back(path + ": " + std::to_string(file->elf->bits) + " bits, " + file->elf->machine);
    return Tried::nothing;
  }
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    if (objects_[i].path.empty() || !objects_[i].identity.same_as(file->identity)) continue;
    objects_[i].names.push_back(request.name);
    request.object = i;
    request.same_file = true;
    return Tried::settled;
  }
  if (objects_.size() >= most_objects) {
    cut_off_ = true;
    return Tried::nothing;
  }
  if (!machine_known_ && !file->elf->machine.empty()) {
    bits_ = file->elf->bits;
    machine_ = file->elf->machine;
    machine_known_ = true;
  }
  LoadedObject object;
  object.path = path;
  object.identity = file->identity;
  object.elf = file->elf;
  object.origin = parent_folder(path);
  object.names = {request.name};
  object.loader = requester;
  objects_.push_back(std::move(object));
  request.object = objects_.size() - 1;
  request.loaded = true;
  return Tried::settled;
}

bool Loader::search(const std::vector<std::string>& folders, LoaderRequest& request, std::size_t requester) {
  for (const std::string& folder : folders) {
    if (!files_->is_folder(folder)) continue;
    const std::string base = folder == "/" ? "" : folder;
    std::vector<std::string> tries;
    for (const std::string& subfolder : files_->subfolders(folder)) {
      tries.push_back(base + "/" + subfolder + "/" + request.name);
    }
    tries.push_back(base + "/" + request.name);
    for (const std::string& path : tries) {
      const Tried tried = take(path, request, requester);
      if (tried != Tried::nothing) return tried == Tried::settled;
    }
  }
  return false;
}

std::optional<std::size_t> Loader::search_rpaths(LoaderRequest& request, std::size_t requester) {
  for (std::optional<std::size_t> at = requester; at; at = objects_[*at].loader) {
    const ElfFacts& elf = *objects_[*at].elf;
    if (!elf.runpath.empty() || is_empty(elf.rpath)) continue;
    if (search(expanded(elf.rpath, objects_[*at].origin), request, requester)) return at;
  }
  return std::nullopt;
}

bool Loader::search_cache(LoaderRequest& request, std::size_t requester) {
  // Entries of glibc-hwcaps stand before the plain one; the best usable one counts.
  const std::string* best = nullptr;
  std::optional<std::size_t> best_rank;
  for (const std::string& path : files_->cached(request.name)) {
    if (!contains(path, "/glibc-hwcaps/")) {
      if (best == nullptr) best = &path;
      break;
    }
    const auto rank = files_->hwcaps_rank(path);
    if (!rank || (best_rank && *best_rank <= *rank)) continue;
    best = &path;
    best_rank = rank;
  }
  return best != nullptr && take(*best, request, requester) == Tried::settled;
}

LoaderRequest Loader::map(const std::string& name, std::size_t requester) {
  LoaderRequest request;
  request.name = name;
  if (loaded_already(name, request)) return request;

  const auto settled = [&](LoaderRule rule, const std::string& reason) {
    if (request.rule == LoaderRule::broken) {
      request.reason = reason + " leads to a file that is no library: " + request.reason;
      return request;
    }
    request.rule = rule;
    request.reason = reason;
    if (request.same_file) request.reason += "; the same file as " + objects_[*request.object].path;
    return request;
  };
  if (contains(name, "/")) {
    const std::string path = absolute(expanded(name, objects_[requester].origin));
    if (take(path, request, requester) == Tried::settled) {
      return settled(LoaderRule::path, "by its path");
    }
    request.reason = request.passed_over.empty() ? "there is no such file" : "the loader does not take that file";
    return request;
  }
  const std::shared_ptr<const ElfFacts> elf = objects_[requester].elf;
  if (elf->runpath.empty()) {
    if (const auto owner = search_rpaths(request, requester)) {
      return settled(LoaderRule::rpath, "DT_RPATH of " + short_name(*owner));
    }
  }
  if (search(library_path_, request, requester)) return settled(LoaderRule::library_path, "LD_LIBRARY_PATH");
  if (!is_empty(elf->runpath) && search(expanded(elf->runpath, objects_[requester].origin), request, requester)) {
    return settled(LoaderRule::runpath, "DT_RUNPATH of " + short_name(requester));
  }
  if (search_cache(request, requester)) return settled(LoaderRule::cache, "ld.so.cache");
  std::vector<std::string> defaults;
  if (multiarch()) defaults = {"/lib/" + triplet(), "/usr/lib/" + triplet(), "/lib", "/usr/lib"};
  if (defaults.empty()) defaults = bits_ == 64 ? std::vector<std::string>{"/lib64", "/usr/lib64"}
                                               : std::vector<std::string>{"/lib", "/usr/lib"};
  if (search(defaults, request, requester)) return settled(LoaderRule::default_folder, "default folder");
  request.reason = "nothing leads to it";
  return request;
}

}  // namespace sage
