// A capture is made to be handed on, so it must not hold more than it needs: a ~/.bashrc may hold a token, /etc/group
// everybody's name, the kernel's command line a disk's id. Redaction, which replaces the names it knows, can't help
// with secrets that nobody knows beforehand; so every file needs a rule that says what of it may be kept, and a file
// without a rule is kept out. Line numbers are evidence, so lines that go leave an empty line behind.
//
// A rule is found by the path that was asked for, and ~/.bashrc may be a link to ~/dotfiles/bashrc: each symlink of the
// capture that a rule's pattern matches passes the rule on to the file it leads to.

#include "probes/host/capture_filters.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "probes/base/text.hpp"
#include "probes/host/captured_host.hpp"
#include "probes/kernel_log_filter.hpp"
#include "probes/loader/load_story.hpp"
#include "probes/modprobe.hpp"
#include "probes/sage_install.hpp"
#include "probes/startup_files.hpp"

namespace sage {
namespace {

/// What a rule may look at beside the file.
struct Context {
  const ProcessIdentity& process;
  std::set<std::uint32_t> groups;  ///< those of the process and those that own a recorded device node
};

using Keep = std::string (*)(std::string_view contents, const Context& context);

bool has_any(std::string_view text, const std::vector<std::string_view>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return contains_ignoring_case(text, word); });
}

template <class Wanted>
std::string other_lines_emptied(std::string_view contents, Wanted wanted) {
  std::string kept;
  for (const std::string_view line : lines(contents)) {
    if (wanted(line)) kept += line;
    kept += '\n';
  }
  return kept;
}

// ---- rules

std::string keep_whole(std::string_view contents, const Context&) {
  return std::string(contents);
}

/// group(5): name:password:gid:members.
std::string keep_groups(std::string_view contents, const Context& context) {
  std::string kept;
  for (const std::string_view line : lines(contents)) {
    const std::vector<std::string_view> fields = split(line, ':');
    if (fields.size() != 4) continue;
    const std::string name(fields[0]);
    const auto gid = parse_number(fields[2]);
    const bool wanted = name == "video" || name == "render" ||
                        (gid && *gid <= UINT32_MAX && context.groups.contains(static_cast<std::uint32_t>(*gid)));
    if (!wanted) continue;
    const std::vector<std::string_view> members = split(fields[3], ',');
    const bool lists_user = std::find(members.begin(), members.end(), context.process.user) != members.end();
    kept += name + ":x:" + std::string(fields[2]) + ":" + (lists_user ? context.process.user : "") + "\n";
  }
  return kept;
}

std::string keep_gpu_arguments(std::string_view contents, const Context&) {
  std::vector<std::string> kept;
  for (const std::string_view argument : words(contents)) {
    if (bears_on_gpus(argument)) kept.emplace_back(argument);
  }
  return join(kept, " ") + "\n";
}

/// All processors say the same; some ARM machines add a serial number at the end.
std::string keep_first_processor(std::string_view contents, const Context&) {
  return std::string(contents.substr(0, contents.find("\n\n"))) + "\n";
}

std::string keep_amdgpu_entries(std::string_view contents, const Context&) {
  std::string kept;
  for (const std::string_view line : lines(contents)) {
    const std::string_view path = line.substr(0, line.find(':'));
    if (contains(path, "/amdgpu.ko")) kept += std::string(line) + "\n";
  }
  return kept;
}

/// linux/module_signature.h.
std::string keep_signature_mark(std::string_view contents, const Context&) {
  constexpr std::string_view mark = "~Module signature appended~\n";
  if (mark.ends_with(contents)) return std::string(contents);
  return std::string(contents.ends_with(mark) ? mark : "");
}

/// A statement may go on over several lines, joined by backslashes.
std::string keep_gpu_modules(std::string_view contents, const Context&) {
  std::string kept;
  std::string statement;
  for (const std::string_view line : lines(contents)) {
    statement += std::string(line) + "\n";
    if (line.ends_with('\\')) continue;
    const bool comment = trim(statement).starts_with('#');
    const bool wanted = !comment && has_any(statement, {"amdgpu", "radeon", "amdkfd"});
    kept += wanted ? statement
                   : std::string(static_cast<std::size_t>(std::count(statement.begin(), statement.end(), '\n')), '\n');
    statement.clear();
  }
  return kept + statement;
}

std::string keep_wsl_settings(std::string_view contents, const Context&) {
  static constexpr std::array settings = {"enabled", "appendlibpath", "ldconfig",   "gpusupport", "safemode",
                                          "memory",  "swap",          "processors", "systemd"};
  return other_lines_emptied(contents, [](std::string_view line) {
    line = trim(line);
    if (line.starts_with('[')) return true;
    const std::string key = to_lower(trim(line.substr(0, line.find('='))));
    return std::find(settings.begin(), settings.end(), key) != settings.end();
  });
}

std::string keep_gpu_options(std::string_view contents, const Context&) {
  return other_lines_emptied(contents, [](std::string_view line) {
    return has_any(line, {"HSA_AMD", "AMDGPU", "VGEM", "DXGKRNL", "MODULE_SIG", "LOCKDOWN", "IOMMU"});
  });
}

/// dpkg's status file: paragraphs that begin with "Package: name".
std::string keep_gpu_packages(std::string_view contents, const Context&) {
  std::string kept;
  bool wanted = false;
  for (const std::string_view line : lines(contents)) {
    if (line.starts_with("Package:")) {
      wanted = has_any(line, {"roc", "hip", "hsa", "amdgpu", "libdrm-amdgpu"});
      if (wanted && !kept.empty()) kept += "\n";
    }
    const bool useful = line.starts_with("Package:") || line.starts_with("Status:") || line.starts_with("Version:") ||
                        line.starts_with("Architecture:");
    if (wanted && useful) kept += std::string(line) + "\n";
  }
  return kept;
}

/// Of a distribution's METADATA (RFC 822 headers, then its description): what pip decides by. Authors are named in the
/// rest.
std::string keep_package_headers(std::string_view contents, const Context&) {
  std::string kept;
  for (const std::string_view line : lines(contents)) {
    if (trim(line).empty()) break;
    const std::string_view key = line.substr(0, line.find(':'));
    const bool home = (key == "Home-page" || key == "Project-URL") && !contains(line, "@");
    if (key == "Name" || key == "Version" || key == "Requires-Dist" || home) kept += std::string(line) + "\n";
  }
  return kept;
}

std::string keep_wheel_tags(std::string_view contents, const Context&) {
  return other_lines_emptied(contents, [](std::string_view line) { return line.starts_with("Tag:"); });
}

std::string keep_venv_settings(std::string_view contents, const Context&) {
  static constexpr std::array settings = {"home", "include-system-site-packages", "version", "version_info", "uv"};
  return other_lines_emptied(contents, [](std::string_view line) {
    const std::string key = to_lower(trim(line.substr(0, line.find('='))));
    return std::find(settings.begin(), settings.end(), key) != settings.end();
  });
}

/// Folders only: a .pth file may also hold code.
std::string keep_pth_folders(std::string_view contents, const Context&) {
  return other_lines_emptied(contents, [](std::string_view line) {
    return !line.starts_with('#') && !line.starts_with("import ") && !line.starts_with("import\t");
  });
}

/// What tells how SageAttention's kernel treats keys that are not there.
std::string keep_key_mask(std::string_view contents, const Context&) {
  return other_lines_emptied(contents, [](std::string_view line) { return contains(line, "k_mask"); });
}

std::string keep_sage_build(std::string_view contents, const Context&) {
  return other_lines_emptied(contents, tells_of_sage_build);
}

template <class Wanted>
std::string only_lines(std::string_view contents, Wanted wanted) {
  std::string kept;
  for (const std::string_view line : lines(contents)) {
    if (wanted(line)) kept += std::string(line) + "\n";
  }
  return kept;
}

/// By what Triton's AMD backend looks for the HIP runtime and for a linker.
std::string keep_triton_search(std::string_view contents, const Context&) {
  return only_lines(contents, [](std::string_view line) {
    return has_any(line, {"__version__", "with(lib_name)", "rocm_sdk.find_libraries(", "\"hipconfig\"", "ld.lld"});
  });
}

/// The function by which PyTorch finds ROCM_HOME.
std::string keep_rocm_home_rules(std::string_view contents, const Context&) {
  bool inside = false;
  return only_lines(contents, [&inside](std::string_view line) {
    if (line.starts_with("def ")) inside = line.starts_with("def _find_rocm_home");
    return inside;
  });
}

/// The line with the folders of a development install; the rest of the file is code.
std::string keep_mapping(std::string_view contents, const Context&) {
  return other_lines_emptied(contents, [](std::string_view line) { return line.starts_with("MAPPING"); });
}

std::string keep_python_version(std::string_view contents, const Context&) {
  return other_lines_emptied(contents, [](std::string_view line) { return trim(line).starts_with("python"); });
}

/// Of a script that starts a compiler: what says that it is one, and which compiler it starts.
std::string keep_compiler_script(std::string_view contents, const Context&) {
  return other_lines_emptied(contents, [](std::string_view line) {
    return line.starts_with("#!") || has_any(line, {"rocm_sdk_core", "/clang++-"});
  });
}

/// Of a process's memory map the runtime libraries alone: the rest tells what somebody runs.
std::string keep_runtime_mappings(std::string_view contents, const Context&) {
  std::string kept;
  for (const std::string_view line : lines(contents)) {
    const std::size_t slash = line.rfind('/');
    if (slash != std::string_view::npos && runtime_library_of(line.substr(slash + 1))) kept += std::string(line) + "\n";
  }
  return kept;
}

struct Rule {
  const char* pattern;  ///< fnmatch(3), '*' matches slashes too
  Keep keep;            ///< nullptr: nothing
};

/// The first match counts. Start-up files have no row here: startup_files() knows them.
constexpr std::array rules = {
    Rule{"/proc/cmdline", keep_gpu_arguments},
    Rule{"/proc/cpuinfo", keep_first_processor},
    Rule{"/proc/*/environ", nullptr},
    Rule{"/proc/*/cmdline", nullptr},
    Rule{"/proc/*/maps", keep_runtime_mappings},
    Rule{"/proc/*", keep_whole},
    Rule{"/sys/*serial*", nullptr},
    Rule{"/sys/*uuid*", nullptr},
    Rule{"/sys/*", keep_whole},
    Rule{"/etc/group", keep_groups},
    Rule{"/etc/wsl.conf", keep_wsl_settings},
    Rule{"*/.wslconfig", keep_wsl_settings},
    Rule{"/etc/os-release", keep_whole},
    Rule{"/etc/ld.so.conf*", keep_whole},
    Rule{"/etc/ld.so.preload", keep_whole},
    Rule{"/boot/config-*", keep_gpu_options},
    Rule{"/run/systemd/container", keep_whole},
    Rule{"/var/lib/dpkg/status", keep_gpu_packages},
    Rule{"*/modprobe.d/*", keep_gpu_modules},
    Rule{"*/modules.dep", keep_amdgpu_entries},
    Rule{"*/modules.builtin", keep_amdgpu_entries},
    Rule{"*.ko", keep_signature_mark},
    Rule{"*/.info/version*", keep_whole},
    Rule{"*/share/hip/version", keep_whole},
    Rule{"*/lib/.hipInfo", keep_whole},
    Rule{"*/hip/hip_version.h", keep_whole},
    Rule{"*/cuda*/version.json", keep_whole},
    Rule{"*/bin/hipcc*", keep_compiler_script},
    Rule{"*/bin/amdclang++", keep_compiler_script},
    Rule{"*/bin/clang++*", keep_compiler_script},
    Rule{"*/dids.conf", keep_whole},
    Rule{"*/torch/version.py", keep_whole},
    Rule{"*/torch/utils/cpp_extension.py", keep_rocm_home_rules},
    Rule{"*/triton/__init__.py", keep_triton_search},
    Rule{"*/triton/backends/amd/*.py", keep_triton_search},
    Rule{"*.dist-info/METADATA", keep_package_headers},
    Rule{"*.dist-info/WHEEL", keep_wheel_tags},
    Rule{"*-packages/*.pth", keep_pth_folders},
    Rule{"*/__editable___torch_*_finder.py", keep_mapping},
    Rule{"*/sageattention/attn_qk_int8_per_block.py", keep_key_mask},
    Rule{"*/sageattention/triton/attn_qk_int8_per_block.py", keep_key_mask},
    Rule{"*/setup.py", keep_sage_build},
    Rule{"*/sage-doctor/*/manifest.json", keep_whole},
    Rule{"*/pyvenv.cfg", keep_venv_settings},
    Rule{"*/.conda/environments.txt", keep_whole},
    Rule{"*/.tool-versions", keep_python_version},
    Rule{"*/mise.toml", keep_python_version},
    Rule{"*/.mise.toml", keep_python_version},
    Rule{"*/.config/mise/config.toml", keep_python_version},
    Rule{"*/.python-version", keep_whole},
    Rule{"*pyenv*/version", keep_whole},
    Rule{"/usr/lib/*", keep_whole},
    Rule{"/usr/share/*", keep_whole},
    Rule{"/opt/*", keep_whole},
};

const Rule* rule_for(const std::string& path) {
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const Rule& candidate) {
    return ::fnmatch(candidate.pattern, path.c_str(), 0) == 0;
  });
  return rule == rules.end() ? nullptr : &*rule;
}

// ---- files

/// Rules by the path of the file itself, for those that are reached by a link or are start-up files.
struct RulesByPath {
  std::map<std::string, const Rule*> table;
  std::map<std::string, StartupSyntax> startup;
};

RulesByPath rules_behind_links(const Capture& capture) {
  const std::unique_ptr<Host> host = make_captured_host(capture);
  RulesByPath found;
  for (const auto& [path, entry] : capture.paths) {
    if (entry.type != FileType::symlink) continue;
    const Rule* const rule = rule_for(path);
    const Result<std::string> place = host->canonical(path);
    if (rule != nullptr && place.ok()) found.table.emplace(*place, rule);
  }
  std::optional<Error> unlisted;
  for (const StartupFile& file : startup_files(*host, unlisted)) {
    if (const Result<std::string> place = host->canonical(file.path); place.ok()) found.startup[*place] = file.syntax;
  }
  return found;
}

void filter_files(Capture& capture, const Context& context) {
  const RulesByPath behind_links = rules_behind_links(capture);
  for (auto& [path, entry] : capture.paths) {
    if (!entry.contents) continue;
    if (const auto startup = behind_links.startup.find(path); startup != behind_links.startup.end()) {
      entry.contents = only_looked_for(*entry.contents, startup->second);
      continue;
    }
    const Rule* rule = rule_for(path);
    if (const auto linked = behind_links.table.find(path); rule == nullptr && linked != behind_links.table.end()) {
      rule = linked->second;
    }
    if (rule != nullptr && rule->keep != nullptr) {
      entry.contents = rule->keep(*entry.contents, context);
    } else {
      entry.contents.reset();
      entry.only_end = false;
      entry.read_error = Error{ENODATA, path + ": left out of the capture"};
    }
  }
}

// ---- the rest

/// Folders whose names tell much about their owner: only those with one of the words are kept. What was looked at by
/// name has an entry of its own.
constexpr std::array<std::string_view, 13> package_words = {"roc",    "amd",  "hip",   "hsa",   "torch", "triton",
                                                            "nvidia", "sage", "flash", "aiter", "~",     ".pth",  "xformers"};

struct NamesRule {
  const char* pattern;  ///< fnmatch(3)
  std::array<std::string_view, 13> words;
};

constexpr std::array names_rules = {
    NamesRule{"/opt", {"roc", "amd", "hip"}},
    NamesRule{"*-packages", package_words},
};

void keep_names(CapturedPath& entry, const std::array<std::string_view, 13>& words) {
  std::erase_if(entry.names, [&](const std::string& name) {
    return std::none_of(words.begin(), words.end(), [&](std::string_view word) {
      return !word.empty() && contains_ignoring_case(name, word);
    });
  });
}

/// What PYTHONPATH and .pth files name, which may be anybody's folder of projects; without symbolic links.
std::set<std::string> import_folders(const Capture& capture) {
  std::vector<std::string> named;
  const auto variable = capture.environment.find("PYTHONPATH");
  if (variable != capture.environment.end()) {
    for (const std::string_view folder : split(variable->second, ':')) named.emplace_back(folder);
  }
  for (const auto& [path, entry] : capture.paths) {
    if (!path.ends_with(".pth") || !entry.contents) continue;
    for (const std::string_view line : lines(*entry.contents)) named.emplace_back(trim(line));
  }
  const std::unique_ptr<Host> host = make_captured_host(capture);
  std::set<std::string> folders;
  for (const std::string& folder : named) {
    if (!folder.starts_with('/')) continue;
    if (const Result<std::string> place = host->canonical(folder); place.ok()) folders.insert(*place);
  }
  return folders;
}

void filter_names(Capture& capture) {
  const std::set<std::string> imports = import_folders(capture);
  for (auto& [path, entry] : capture.paths) {
    if (path == capture.process.home) entry.names.clear();
    for (const NamesRule& rule : names_rules) {
      if (::fnmatch(rule.pattern, path.c_str(), 0) == 0) keep_names(entry, rule.words);
    }
    if (imports.contains(path)) keep_names(entry, package_words);
  }
}

void filter_environment(Capture& capture) {
  std::erase_if(capture.environment, [](const auto& variable) { return !environment_allowed(variable.first); });
}

void filter_kernel_log(Capture& capture) {
  if (!capture.kernel_log || !capture.kernel_log->ok()) return;
  std::vector<std::string>& messages = **capture.kernel_log;
  std::erase_if(messages, [](const std::string& line) { return !kernel_log_line_kept(line); });
  for (std::string& line : messages) line = without_log_stamp(line);
}

/// A mount point may be named after a person, a customer or a server. Those of the system say nothing, and those that
/// something was recorded below are needed.
void filter_mounts(Capture& capture) {
  if (!capture.mounts || !capture.mounts->ok()) return;
  static constexpr std::array system_folders = {"/boot", "/dev",     "/etc", "/lib", "/lib64", "/opt",
                                                "/proc", "/run/WSL", "/sys", "/tmp", "/usr",   "/var/lib/dkms"};
  const auto below = [](const std::string& path, const std::string& folder) {
    return path == folder || path.starts_with(folder + "/");
  };
  std::erase_if(**capture.mounts, [&](const Mount& mount) {
    if (mount.point == "/") return false;
    if (std::any_of(system_folders.begin(), system_folders.end(),
                    [&](const char* folder) { return below(mount.point, folder); })) {
      return false;
    }
    if (mount.point.starts_with("/mnt/") && mount.point.size() == 6) return false;  // a Windows drive
    return std::none_of(capture.paths.begin(), capture.paths.end(),
                        [&](const auto& entry) { return below(entry.first, mount.point); });
  });
}

/// What the loader's cache says of libraries that nobody looked at is of no use.
void filter_loader_cache(Capture& capture) {
  if (!capture.loader_cache || !capture.loader_cache->ok()) return;
  const std::unique_ptr<Host> host = make_captured_host(capture);
  std::erase_if(**capture.loader_cache, [&](const LoaderCacheEntry& entry) {
    return !host->status(entry.path).ok() &&
           !has_any(entry.soname, {"hsa", "hip", "roc", "amd", "drm", "dxcore", "d3d12", "libstdc++", "libc.so",
                                   "libelf", "libnuma", "cuda", "torch"});
  });
}

}  // namespace

void filter_capture(Capture& capture) {
  Context context{capture.process, {capture.process.groups.begin(), capture.process.groups.end()}};
  context.groups.insert(capture.process.gid);
  for (const auto& [path, entry] : capture.paths) {
    if (entry.type == FileType::character_device && entry.gid) context.groups.insert(*entry.gid);
  }
  filter_files(capture, context);
  filter_names(capture);
  filter_environment(capture);
  filter_kernel_log(capture);
  filter_mounts(capture);
  filter_loader_cache(capture);
}

}  // namespace sage
