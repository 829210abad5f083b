#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "probes/host/host.hpp"
#include "probes/library_places.hpp"

namespace sage {

/// What stands at a path that the loader tries. `elf` is null when it is no ELF file that can be read, with the reason.
struct LoaderFile {
  FileIdentity identity;
  std::shared_ptr<const ElfFacts> elf;
  std::string broken;
  bool opens = true;  ///< false: open(2) fails otherwise than by ENOENT or EACCES, as with a link to itself
};

/// The files of one machine as ld.so(8) sees them. Each question goes to the Host once; several predictions share one
/// of these, which must outlive them.
class LoaderFiles {
 public:
  /// `with_versions`: the ELF facts of every file come with symbol versions.
  explicit LoaderFiles(const Host& host, bool with_versions = false) : host_(host), with_versions_(with_versions) {}

  /// nullptr when there is nothing, or nothing that may be read.
  [[nodiscard]] const LoaderFile* file(const std::string& path);
  [[nodiscard]] bool is_folder(const std::string& path);
  /// Subfolders that the loader tries before a library folder itself, best first: glibc-hwcaps/x86-64-v4 to -v2 as far
  /// as the processor goes, then, before glibc 2.37, the legacy ones ("tls", "haswell" ...). Only those that exist.
  [[nodiscard]] const std::vector<std::string>& subfolders(const std::string& folder);
  /// Rank of a path's glibc-hwcaps folder, the smaller the better; nullopt: for another processor.
  [[nodiscard]] std::optional<std::size_t> hwcaps_rank(const std::string& path);
  /// The paths that ld.so.cache has for a soname, in its order.
  [[nodiscard]] const std::vector<std::string>& cached(const std::string& soname);
  /// "x86_64", or what this processor replaces it by, for $PLATFORM.
  [[nodiscard]] const std::string& platform();

  /// Why an answer can't be relied on: a filesystem that did not answer, an unreadable ld.so.cache.
  [[nodiscard]] const std::optional<Error>& trouble() const { return trouble_; }
  [[nodiscard]] const Host& host() const { return host_; }

 private:
  struct Processor {
    std::vector<std::string> levels;  ///< "x86-64-v3" ..., best first
    std::string platform;
    std::vector<std::string> legacy;
  };

  [[nodiscard]] const Processor& processor();
  [[nodiscard]] bool legacy_subfolders();
  void note(const Error& error);
  [[nodiscard]] std::optional<LoaderFile> look(const std::string& path);

  const Host& host_;
  bool with_versions_;
  std::unordered_map<std::string, std::optional<LoaderFile>> files_;
  std::unordered_map<std::string, bool> folders_;
  std::unordered_map<std::string, std::vector<std::string>> subfolders_;
  std::optional<std::map<std::string, std::vector<std::string>>> cache_;
  std::optional<Processor> processor_;
  std::optional<bool> legacy_;
  std::optional<Error> trouble_;
};

}  // namespace sage
