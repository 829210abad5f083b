#include "probes/loader/loader_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <utility>

#include "probes/base/text.hpp"
#include "probes/base/version.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

constexpr std::size_t cpuinfo_cap = 4 * 1024 * 1024;
constexpr std::string_view hwcaps_folder = "glibc-hwcaps";

/// What a level asks of the processor beyond the one before, by the names of /proc/cpuinfo. Source: x86-64 psABI 3.1.1
/// and glibc sysdeps/x86_64/dl-hwcaps_subdirs.c.
struct Level {
  std::string_view name;
  std::array<std::string_view, 9> flags;
};
constexpr std::array levels = {
    Level{"x86-64-v2", {"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"}},
    Level{"x86-64-v3", {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}},
    Level{"x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}},
};

/// glibc sysdeps/x86/cpu-features.c: only on Intel's processors.
constexpr auto haswell_flags =
    std::to_array<std::string_view>({"avx2", "bmi1", "bmi2", "abm", "movbe", "popcnt", "fma"});
constexpr auto avx512_1_flags = std::to_array<std::string_view>({"avx512cd", "avx512bw", "avx512dq", "avx512vl"});

template <class Flags>
bool has_all(const std::set<std::string_view>& have, const Flags& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](std::string_view flag) { return flag.empty() || have.contains(flag); });
}

std::set<std::string_view> flags_of(std::string_view cpuinfo) {
  for (const std::string_view line : lines(cpuinfo)) {
    if (!line.starts_with("flags")) continue;
    const std::vector<std::string_view> found = words(line.substr(std::min(line.find(':') + 1, line.size())));
    return {found.begin(), found.end()};
  }
  return {};
}

/// Every choice of `parts` in their order, "tls/haswell" before "tls" before "haswell", as glibc's
/// _dl_important_hwcaps counts them before 2.37.
std::vector<std::string> choices(const std::vector<std::string>& parts) {
  std::vector<std::string> all;
  for (std::size_t bits = (std::size_t{1} << parts.size()) - 1; bits > 0; --bits) {
    std::string folder;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if ((bits >> (parts.size() - 1 - i) & 1U) != 0) folder += (folder.empty() ? "" : "/") + parts[i];
    }
    all.push_back(std::move(folder));
  }
  return all;
}

}  // namespace

void LoaderFiles::note(const Error& error) {
  if (!trouble_) trouble_ = error;
}

const LoaderFile* LoaderFiles::file(const std::string& path) {
  auto known = files_.find(path);
  if (known == files_.end()) known = files_.emplace(path, look(path)).first;
  return known->second ? &*known->second : nullptr;
}

std::optional<LoaderFile> LoaderFiles::look(const std::string& path) {
  const auto status = host_.status(path);
  if (!status) {
    const Error& error = status.error();
    if (error.number == ETIMEDOUT) note(error);
    if (is_absent(error) || error.number == EACCES) return std::nullopt;
    LoaderFile unusable;
    unusable.broken = error.text;
    unusable.opens = false;
    return unusable;
  }
  LoaderFile found;
  if (status->type != FileType::regular) {
    found.broken = path + ": no file, but a " + std::string(enum_name(status->type));
    return found;
  }
  std::string canonical = host_.canonical(path).value_or(path);
  ElfQuery query;
  query.versions = with_versions_;
  auto elf = host_.elf(canonical, query);
  if (elf) {
    found.elf = std::make_shared<const ElfFacts>(std::move(elf).value());
  } else {
    if (elf.error().number == ETIMEDOUT) note(elf.error());
    if (is_absent(elf.error()) || elf.error().number == EACCES) return std::nullopt;
    found.broken = elf.error().text;
  }
  found.identity = {status->inode, status->size, std::move(canonical)};
  return found;
}

bool LoaderFiles::is_folder(const std::string& path) {
  if (const auto known = folders_.find(path); known != folders_.end()) return known->second;
  const auto status = host_.status(path);
  if (!status && status.error().number == ETIMEDOUT) note(status.error());
  const bool folder = status.ok() && status->type == FileType::directory;
  folders_.emplace(path, folder);
  return folder;
}

const std::vector<std::string>& LoaderFiles::subfolders(const std::string& folder) {
  if (const auto known = subfolders_.find(folder); known != subfolders_.end()) return known->second;
  std::vector<std::string> found;
  if (is_folder(folder + "/" + std::string(hwcaps_folder))) {
    for (const std::string& level : processor().levels) {
      const std::string name = std::string(hwcaps_folder) + "/" + level;
      if (is_folder(folder + "/" + name)) found.push_back(name);
    }
  }
  if (legacy_subfolders()) {
    static constexpr auto first_parts =
        std::to_array<const char*>({"/tls", "/haswell", "/xeon_phi", "/avx512_1", "/x86_64"});
    const bool any = std::any_of(first_parts.begin(), first_parts.end(),
                                 [&](const char* part) { return is_folder(folder + part); });
    if (any) {
      for (const std::string& name : processor().legacy) {
        if (is_folder(folder + "/" + name)) found.push_back(name);
      }
    }
  }
  return subfolders_.emplace(folder, std::move(found)).first->second;
}

std::optional<std::size_t> LoaderFiles::hwcaps_rank(const std::string& path) {
  const std::string mark = "/" + std::string(hwcaps_folder) + "/";
  const std::size_t at = path.find(mark);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t begin = at + mark.size();
  const std::string level = path.substr(begin, path.find('/', begin) - begin);
  const std::vector<std::string>& usable = processor().levels;
  const auto found = std::find(usable.begin(), usable.end(), level);
  if (found == usable.end()) return std::nullopt;
  return static_cast<std::size_t>(found - usable.begin());
}

const std::vector<std::string>& LoaderFiles::cached(const std::string& soname) {
  static const std::vector<std::string> none;
  if (!cache_) {
    cache_.emplace();
    auto entries = host_.loader_cache();
    // A machine without the file works: the default folders remain.
    if (!entries && !is_absent(entries.error())) note(entries.error());
    for (LoaderCacheEntry& entry : entries.value_or({})) (*cache_)[entry.soname].push_back(std::move(entry.path));
  }
  const auto found = cache_->find(soname);
  return found == cache_->end() ? none : found->second;
}

bool LoaderFiles::legacy_subfolders() {
  if (!legacy_) {
    const auto libc = host_.libc();
    legacy_ = libc.ok() && libc->name == "glibc" && version_below(libc->version, "2.37");
  }
  return *legacy_;
}

const std::string& LoaderFiles::platform() {
  return processor().platform;
}

const LoaderFiles::Processor& LoaderFiles::processor() {
  if (processor_) return *processor_;
  const std::string text = host_.read_file("/proc/cpuinfo", cpuinfo_cap).value_or("");
  const std::set<std::string_view> flags = flags_of(text);
  Processor found;
  for (const Level& level : levels) {
    if (!has_all(flags, level.flags)) break;
    found.levels.insert(found.levels.begin(), std::string(level.name));
  }
  const bool intel = contains(text, "GenuineIntel");
  const bool knights = flags.contains("avx512er") && flags.contains("avx512pf");
  found.platform = "x86_64";
  if (intel && has_all(flags, haswell_flags)) found.platform = knights ? "xeon_phi" : "haswell";
  std::vector<std::string> parts = {"tls", found.platform};
  if (intel && !knights && has_all(flags, avx512_1_flags)) parts.emplace_back("avx512_1");
  parts.emplace_back("x86_64");
  found.legacy = choices(parts);
  processor_ = std::move(found);
  return *processor_;
}

}  // namespace sage
