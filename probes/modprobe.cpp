#include "probes/modprobe.hpp"

#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <string>

#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/container.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

/// By rank: a file hides those of the same name in later folders (modprobe.d(5)).
constexpr std::array<const char*, 5> modprobe_folders = {
    "/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d",
};

/// Arguments that bear on GPUs: exact, or up to and including the last character where that is '=' or '.'.
constexpr auto gpu_arguments = std::to_array<std::string_view>({
    "nomodeset",
    "amdgpu.",
    "radeon.",
    "amdkfd.",
    "drm.",
    "ttm.",
    "modprobe.blacklist=",
    "module_blacklist=",
    "rd.driver.blacklist=",
    "initcall_blacklist=",
    "module.sig_enforce",
    "lockdown=",
    "iommu=",
    "amd_iommu=",
    "intel_iommu=",
    "vfio-pci.ids=",
    "pci=",
    "pcie_aspm=",
    "pcie_ports=",
    "video=",
    "firmware_class.path=",
});

/// `modprobe.blacklist=a,amdgpu` (modprobe) and `module_blacklist=a,amdgpu` (the kernel itself).
bool argument_blacklists(std::string_view argument) {
  for (const std::string_view key : {"modprobe.blacklist=", "module_blacklist="}) {
    if (!argument.starts_with(key)) continue;
    for (const std::string_view module : split(argument.substr(key.size()), ',')) {
      if (module == "amdgpu") return true;
    }
  }
  return false;
}

bool blacklists(std::string_view line) {
  const auto parts = words(line);
  if (parts.size() < 2 || parts[1] != "amdgpu") return false;
  if (parts[0] == "blacklist") return true;
  if (parts[0] != "install" || parts.size() < 3) return false;
  const std::string command = file_name(std::string(parts[2]));
  return command == "true" || command == "false";
}

/// The modprobe.d files that count, by name.
std::map<std::string, std::string> effective_files(const Host& host, std::optional<Error>& error) {
  std::map<std::string, std::string> files;
  for (const std::string folder : modprobe_folders) {
    const Result<std::vector<std::string>> names = list_if_there(host, folder);
    if (!names) {
      if (!error) error = names.error();
      continue;
    }
    for (const std::string& name : *names) {
      if (name.ends_with(".conf")) files.emplace(name, folder + "/" + name);
    }
  }
  return files;
}

/// A file is masked by a link to /dev/null.
bool is_masked(const Host& host, const std::string& path) {
  const Result<FileStatus> status = host.status(path);
  return status.ok() && status->type == FileType::character_device;
}

void add_from_files(const Host& host, std::vector<Blacklisting>& found, std::optional<Error>& error) {
  for (const auto& [name, path] : effective_files(host, error)) {
    const Result<std::string> text = host.read_file(path);
    if (!text) {
      if (!is_absent(text.error()) && !is_masked(host, path) && !error) error = text.error();
      continue;
    }
    for (Blacklisting& line : blacklist_lines(*text, path)) found.push_back(std::move(line));
  }
}

}  // namespace

bool bears_on_gpus(std::string_view argument) {
  for (const std::string_view known : gpu_arguments) {
    const bool open_ended = known.ends_with('=') || known.ends_with('.');
    if (open_ended ? argument.starts_with(known) : argument.substr(0, argument.find('=')) == known) return true;
  }
  return false;
}

std::vector<Blacklisting> blacklist_lines(std::string_view text, const std::string& file) {
  std::vector<Blacklisting> found;
  std::string statement;  // a line that ends in a backslash goes on
  std::uint32_t number = 0;
  std::uint32_t begin = 1;
  for (const std::string_view line : lines(text)) {
    ++number;
    if (statement.empty()) begin = number;
    statement += line;
    if (statement.ends_with('\\')) {
      statement.back() = ' ';
      continue;
    }
    if (blacklists(statement)) found.push_back({file, begin, std::string(trim(statement))});
    statement.clear();
  }
  if (blacklists(statement)) found.push_back({file, begin, std::string(trim(statement))});
  return found;
}

void probe_modprobe(const Host& host, const Platform& platform, Driver& driver) {
  const std::string arguments_file = "/proc/cmdline";
  std::vector<Blacklisting> found;
  std::optional<Error> error = hidden_by_container(platform.container, "/etc/modprobe.d");
  if (!error) add_from_files(host, found, error);

  const Result<std::string> text = host.read_file(arguments_file);
  if (text) {
    std::vector<std::string> arguments;
    for (const std::string_view argument : words(trim(*text))) {
      if (bears_on_gpus(argument)) arguments.emplace_back(argument);
      if (argument_blacklists(argument)) found.push_back({arguments_file, 0, std::string(argument)});
    }
    driver.kernel_arguments = std::move(arguments);
  } else {
    driver.kernel_arguments = Fact<std::vector<std::string>>::unknown(text.error());
    if (!error) error = text.error();
  }

  // What was found holds whatever could not be read; "nothing" holds only when everything was read.
  driver.blacklist = found.empty() && error ? Fact<std::vector<Blacklisting>>::unknown(*error)
                                            : Fact<std::vector<Blacklisting>>(found);
}

}  // namespace sage
