#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/fact.hpp"
#include "probes/facts/python.hpp"
#include "probes/facts/rocm.hpp"
#include "probes/host/host.hpp"
#include "probes/probe.hpp"
#include "probes/rocm_version.hpp"

namespace sage {

/// A folder in which a runtime library may lie.
struct LibraryPlace {
  std::string folder;
  Fact<LibraryOrigin> origin;
  std::string tree;  ///< what says the version: the ROCm root, torch or the SDK package; empty when nothing does
};

/// What makes two paths the same file.
struct FileIdentity {
  std::uint64_t inode = 0;  ///< 0: unknown
  std::uint64_t size = 0;
  std::string canonical;

  [[nodiscard]] bool same_as(const FileIdentity& other) const {
    if (inode != 0 && other.inode != 0) return inode == other.inode && size == other.size;
    return canonical == other.canonical;
  }
};

struct FoundLibrary {
  std::string path;  ///< as it is spelled where it was looked for
  std::vector<std::string> other_paths;  ///< further names that lead to the same file
  LibraryPlace place;
  FileIdentity identity;
};

/// The installed ROCm trees, canonical, each once: /opt/rocm, /opt/rocm-*, and the configured folders that exist.
/// Error: /opt could not be listed.
[[nodiscard]] Result<std::vector<LibraryPlace>> rocm_roots(const Host& host, const ProbeOptions& options);

/// The library folders of PyTorch's wheels in the environments of `python`, of `roots`, of the distribution, of
/// LD_LIBRARY_PATH, of the conda environment, of ~/.local and of /etc/ld.so.conf: those that exist, each once, in an
/// order in which the first name for a file tells the most about it.
[[nodiscard]] std::vector<LibraryPlace> library_places(const Host& host, const std::vector<LibraryPlace>& roots,
                                                       const Python& python);

/// The folders of LD_LIBRARY_PATH without the empty ones.
[[nodiscard]] std::vector<LibraryPlace> library_path_places(const Host& host);

/// Where `path` leads; an Error when it leads to no regular file.
[[nodiscard]] Result<FileIdentity> identify(const Host& host, const std::string& path);

/// The paths of the loader cache whose soname is `stem` ("librocdxg.so") or `stem` and a version.
[[nodiscard]] std::vector<std::string> cached_paths(const std::vector<LoaderCacheEntry>& cache, std::string_view stem);

/// The library `stem` ("librocdxg.so") and its versioned names in these places and behind these paths of the loader
/// cache. A file with several names is found once, under the first.
[[nodiscard]] std::vector<FoundLibrary> find_libraries(const Host& host, const std::vector<LibraryPlace>& places,
                                                       const std::vector<std::string>& cached, std::string_view stem);

/// The ROCm version of the tree or wheel that a place belongs to.
[[nodiscard]] SourcedVersion version_of_place(const Host& host, const LibraryPlace& place);

[[nodiscard]] bool contains_file(const std::vector<FoundLibrary>& libraries, const FileIdentity& file);

}  // namespace sage
