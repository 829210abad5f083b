#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "probes/base/enum_names.hpp"
#include "probes/loader/loader_files.hpp"

namespace sage {

/// What settled a request for a library; ld.so(8), section "rules", in the order in which they are tried.
enum class LoaderRule {
  program,
  path,
  loaded_name,
  loaded_soname,
  rpath,
  library_path,
  runpath,
  cache,
  default_folder,
  broken,
  missing,
};

template <>
inline constexpr auto enum_names<LoaderRule> = std::to_array<EnumName<LoaderRule>>({
    {LoaderRule::program, "program"},
    {LoaderRule::path, "path"},
    {LoaderRule::loaded_name, "already-loaded-name"},
    {LoaderRule::loaded_soname, "already-loaded-soname"},
    {LoaderRule::rpath, "DT_RPATH"},
    {LoaderRule::library_path, "LD_LIBRARY_PATH"},
    {LoaderRule::runpath, "DT_RUNPATH"},
    {LoaderRule::cache, "ld.so.cache"},
    {LoaderRule::default_folder, "default-folder"},
    {LoaderRule::broken, "broken"},
    {LoaderRule::missing, "missing"},
});

/// One request for a library and how it ended.
struct LoaderRequest {
  std::string name;                   ///< as it was asked for
  std::optional<std::size_t> object;  ///< index of what it got; nullopt: nothing
  bool loaded = false;                ///< this request brought the object into the process
  bool same_file = false;             ///< found under another path, but the file was loaded already
  LoaderRule rule = LoaderRule::missing;
  std::string reason;                 ///< "DT_RPATH of libtorch_hip.so: /venv/torch/lib"
  std::vector<std::string> passed_over;  ///< files that do not fit, "/lib32/libx.so: 32 bits"
};

struct LoadedObject {
  std::string path;    ///< as the loader opened it; empty: a program that stands for any
  FileIdentity identity;
  std::shared_ptr<const ElfFacts> elf;
  std::string origin;  ///< for $ORIGIN
  std::vector<std::string> names;        ///< that it was asked for by
  std::optional<std::size_t> loader;     ///< the object whose request loaded it
  std::vector<LoaderRequest> requests;   ///< for its DT_NEEDED, in their order
};

/// A process as glibc's loader builds it up, computed from files; nothing is run. Copies are independent: to see what
/// would follow from a load, copy first. After a load that failed, the real process has what the copy before it has.
class Loader {
 public:
  /// `files` is used as long as this or a copy of it lives.
  explicit Loader(LoaderFiles& files) : files_(&files) {}

  /// execve(2) of `path`, with LD_PRELOAD and all that is needed. A file that is no ELF file (a script) starts as
  /// start_plain() does. Call one of the two, once.
  void start(const std::string& path);
  /// A program without RPATH and RUNPATH that needs `needed`.
  void start_plain(const std::vector<std::string>& needed);

  /// dlopen(3) of `name` by the object `caller`: what was there is kept; nothing is undone when something is missing.
  LoaderRequest open(const std::string& name, std::size_t caller = 0);
  /// The same for a library that exists as a description alone, as if it lay in `folder`.
  LoaderRequest open_described(const ElfFacts& elf, const std::string& folder, const std::string& file_name);

  /// In the order of loading; the first is the program.
  [[nodiscard]] const std::vector<LoadedObject>& objects() const { return objects_; }
  /// LD_PRELOAD's requests.
  [[nodiscard]] const std::vector<LoaderRequest>& preloads() const { return preloads_; }
  /// Needed names that nothing led to, or to a broken file, by objects from `first` on.
  [[nodiscard]] std::vector<std::string> missing(std::size_t first = 0) const;
  /// True when there was more than a process can have, and the rest was left out.
  [[nodiscard]] bool cut_off() const { return cut_off_; }

 private:
  void begin(LoadedObject program);
  void add_interpreter();
  void preload(const std::string& list);
  void map_needs(std::size_t first);
  LoaderRequest map(const std::string& name, std::size_t requester);
  [[nodiscard]] bool loaded_already(const std::string& name, LoaderRequest& request);
  /// True when the request is settled. A file that can't be opened ends the list of folders.
  [[nodiscard]] bool search(const std::vector<std::string>& folders, LoaderRequest& request, std::size_t requester);
  /// The object whose DT_RPATH settled it.
  [[nodiscard]] std::optional<std::size_t> search_rpaths(LoaderRequest& request, std::size_t requester);
  [[nodiscard]] bool search_cache(LoaderRequest& request, std::size_t requester);
  enum class Tried { nothing, settled, list_ends };
  [[nodiscard]] Tried take(const std::string& path, LoaderRequest& request, std::size_t requester);
  [[nodiscard]] std::vector<std::string> expanded(const std::vector<std::string>& folders, const std::string& origin);
  [[nodiscard]] std::string expanded(const std::string& text, const std::string& origin);
  [[nodiscard]] std::string absolute(const std::string& path) const;
  [[nodiscard]] std::string short_name(std::size_t object) const;
  [[nodiscard]] std::string triplet() const;
  [[nodiscard]] bool multiarch();

  LoaderFiles* files_;
  std::vector<LoadedObject> objects_;
  std::vector<LoaderRequest> preloads_;
  std::vector<std::string> library_path_;
  std::uint32_t bits_ = 64;
  std::string machine_ = "x86_64";
  bool machine_known_ = false;
  bool cut_off_ = false;
};

}  // namespace sage
