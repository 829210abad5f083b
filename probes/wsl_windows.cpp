#include "probes/wsl_windows.hpp"

#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>

#include "probes/base/text.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

// Starting a Windows program goes through the host and an antivirus scanner.
constexpr std::chrono::milliseconds deadline = std::chrono::seconds(10);

constexpr const char* video_controller_script =
    "[Console]::OutputEncoding = [Text.Encoding]::UTF8; Get-CimInstance Win32_VideoController | "
    "Select-Object Name,DriverVersion,PNPDeviceID | ConvertTo-Json -Compress";

Result<std::string> output_of(const Host& host, const std::vector<std::string>& arguments) {
  const auto result = host.run_program(arguments, deadline);
  if (!result) return result.error();
  const std::string& program = arguments.front();
  if (result->timed_out) return Error{ETIMEDOUT, program + ": no answer within 10 s"};
  if (result->signal != 0) return Error{0, program + ": ended by signal " + std::to_string(result->signal)};
  if (result->exit_status != 0) return Error{0, program + ": exit status " + std::to_string(result->exit_status)};
  return result->output;
}

/// The folder of the Windows user, as a Linux path. cmd.exe complains on stdout about a Linux working folder before it
/// answers, so the last line counts.
Result<std::string> user_folder(const Host& host, const std::string& mount_root) {
  const std::string program = mount_root + "c/Windows/System32/cmd.exe";
  const auto output = output_of(host, {program, "/c", "echo %UserProfile%"});
  if (!output) return output.error();
  std::string_view last;
  for (const std::string_view line : lines(*output)) {
    if (!trim(line).empty()) last = trim(line);
  }
  auto folder = linux_path(last, mount_root);
  if (!folder) return Error{0, program + ": " + folder.error().text};
  // A name that the console's code page could not spell must not look like a missing .wslconfig.
  if (const auto status = host.status(*folder); !status) return status.error();
  return folder;
}

Result<WslConf> read_wslconfig(const Host& host, const std::string& mount_root) {
  const auto folder = user_folder(host, mount_root);
  if (!folder) return folder.error();
  const auto text = host.read_file(*folder + "/.wslconfig");
  if (text.ok()) return WslConf(*text);
  if (is_absent(text.error())) return WslConf("");
  return text.error();
}

std::string text_of(const nlohmann::json& adapter, const char* key) {
  const auto value = adapter.find(key);
  return value != adapter.end() && value->is_string() ? value->get<std::string>() : "?";
}

Result<std::vector<std::string>> video_controllers(const Host& host, const std::string& mount_root) {
  const std::string program = mount_root + "c/Windows/System32/WindowsPowerShell/v1.0/powershell.exe";
  const auto output = output_of(host, {program, "-NoProfile", "-NonInteractive", "-Command", video_controller_script});
  if (!output) return output.error();
  return parse_video_controllers(*output);
}

}  // namespace

void probe_windows(const Host& host, const WslConf& conf, Wsl& wsl) {
  std::string mount_root = conf.value("automount", "root").value_or("/mnt/");
  if (!mount_root.ends_with('/')) mount_root += '/';

  const auto wslconfig = read_wslconfig(host, mount_root);
  if (wslconfig.ok()) {
    wsl.wslconfig_gpu_support = wslconfig->flag("wsl2", "gpuSupport", true);
    wsl.wslconfig_safe_mode = wslconfig->flag("wsl2", "safeMode", false);
  } else {
    wsl.wslconfig_gpu_support = wsl.wslconfig_safe_mode = Fact<bool>::unknown(wslconfig.error());
  }
  wsl.windows_adapters = video_controllers(host, mount_root);
}

Result<std::string> linux_path(std::string_view windows_path, const std::string& mount_root) {
  const bool absolute = windows_path.size() > 3 && windows_path.substr(1, 2) == ":\\";
  const std::string drive = to_lower(windows_path.substr(0, 1));
  if (!absolute || drive < "a" || drive > "z" || contains(windows_path, "..")) {
    return Error{0, "'" + std::string(windows_path.substr(0, 200)) + "' is not a path on a Windows drive"};
  }
  std::string path = mount_root + drive;
  for (const char c : windows_path.substr(2)) path += c == '\\' ? '/' : c;
  return path;
}

Result<std::vector<std::string>> parse_video_controllers(std::string_view json) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (json.starts_with(byte_order_mark)) json.remove_prefix(byte_order_mark.size());
  auto adapters = nlohmann::json::parse(json, nullptr, false);
  if (adapters.is_object()) adapters = nlohmann::json::array({adapters});
  if (!adapters.is_array()) return Error{0, "Win32_VideoController: the answer is not JSON"};
  std::vector<std::string> described;
  for (const auto& adapter : adapters) {
    if (!adapter.is_object()) return Error{0, "Win32_VideoController: an adapter is not an object"};
    described.push_back(text_of(adapter, "Name") + " | " + text_of(adapter, "DriverVersion") + " | " +
                        text_of(adapter, "PNPDeviceID"));
  }
  return described;
}

}  // namespace sage
