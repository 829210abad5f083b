#include "probes/host/capture_redaction.hpp"

#include <functional>
#include <utility>

#include "probes/base/text.hpp"

namespace sage {
namespace {

using Change = std::function<std::string(const std::string&)>;

/// Changes every text in whatever a capture is made of. A class, so that each member sees all the others.
class TextChanger {
 public:
  explicit TextChanger(Change by) : by_(std::move(by)) {}

  void change(Capture& capture) const {
    change(capture.description);
    change(capture.process.home);
    change(capture.process.working_folder);
    change(capture.environment);
    change(capture.paths);
    change(capture.elf);
    change(capture.filesystem_sizes);
    change(capture.mounts);
    change(capture.libc);
    change(capture.loader_cache);
    change(capture.kernel_log);
    change(capture.dxg_adapters);
    change(capture.drm_devices);
    change(capture.programs);
  }

 private:
  void change(std::string& text) const { text = by_(text); }
  void change(bool&) const {}
  void change(std::uint64_t&) const {}
  void change(LibcInfo&) const {}
  void change(Error& error) const { change(error.text); }
  void change(Mount& mount) const { change(mount.point); }
  void change(DxgAdapterReply& adapter) const { change(adapter.name); }
  void change(DrmDeviceReply& device) const { change(device.marketing_name); }

  void change(LoaderCacheEntry& entry) const {
    change(entry.soname);
    change(entry.path);
  }

  void change(CapturedPath& entry) const {
    change(entry.contents);
    change(entry.target);
    change(entry.names);
    change(entry.status_error);
    change(entry.read_error);
    change(entry.list_error);
  }

  void change(ElfFacts& facts) const {
    change(facts.soname);
    change(facts.needed);
    change(facts.rpath);
    change(facts.runpath);
    change(facts.symbols);
    change(facts.strings);
    change(facts.version_needs);
    change(facts.version_definitions);
  }

  void change(ElfVersionNeed& need) const {
    change(need.library);
    change(need.versions);
  }

  void change(ProgramOutput& output) const {
    change(output.output);
    change(output.errors);
  }

  void change(CapturedProgram& program) const {
    change(program.arguments);
    change(program.result);
  }

  template <class T>
  void change(std::optional<T>& optional) const {
    if (optional) change(*optional);
  }

  template <class T>
  void change(std::vector<T>& list) const {
    for (T& item : list) change(item);
  }

  template <class T>
  void change(Result<T>& result) const {
    if (result.ok()) return change(result.value());
    Error error = result.error();
    change(error);
    result = std::move(error);
  }

  /// Keys too. Of keys that become the same the first stays.
  template <class T>
  void change(std::map<std::string, T>& map) const {
    std::map<std::string, T> changed;
    for (auto& [key, value] : map) {
      change(value);
      changed.emplace(by_(key), std::move(value));
    }
    map = std::move(changed);
  }

  Change by_;
};

bool is_folder_of_users(const std::string& path) {
  return path == "/home" || (path.starts_with("/mnt/") && path.ends_with("/Users"));
}

/// Personal data that shows only by its place.
void learn_by_place(const Capture& capture, Redaction& redaction) {
  for (const auto& [path, entry] : capture.paths) {
    if (is_folder_of_users(path)) {
      for (const std::string& name : entry.names) redaction.learn_user(name);
    }
    if (path.ends_with("/unique_id") && entry.contents) redaction.learn_gpu_serial(trim(*entry.contents));
  }
}

/// group(5): whatever a member is called, it is a user's name. The filter has left no other member than this user.
std::string members_redacted(const std::string& text, const Redaction& redaction) {
  std::string result;
  for (const std::string_view line : lines(text)) {
    const std::size_t members = line.rfind(':') + 1;
    result += std::string(line.substr(0, members)) + redaction.apply_to_user(line.substr(members)) + "\n";
  }
  return result;
}

void redact_by_place(Capture& capture, const Redaction& redaction) {
  capture.process.user = redaction.apply_to_user(capture.process.user);
  capture.process.host_name = redaction.apply_to_host(capture.process.host_name);
  const auto sudo_user = capture.environment.find("SUDO_USER");
  if (sudo_user != capture.environment.end()) sudo_user->second = redaction.apply_to_user(sudo_user->second);
  for (auto& [path, entry] : capture.paths) {
    if (path == "/etc/group" && entry.contents) entry.contents = members_redacted(*entry.contents, redaction);
    if (!is_folder_of_users(path)) continue;
    for (std::string& name : entry.names) name = redaction.apply_to_user(name);
  }
}

}  // namespace

KnownNames known_names(const ProcessIdentity& process) {
  return {process.user, process.host_name, process.home};
}

Capture redacted(const Capture& capture, Redaction redaction) {
  Capture result = capture;
  learn_by_place(result, redaction);
  const auto learn = [&](const std::string& text) {
    redaction.learn(text);
    return text;
  };
  TextChanger(learn).change(result);
  redact_by_place(result, redaction);
  TextChanger([&](const std::string& text) { return redaction.apply(text); }).change(result);
  return result;
}

}  // namespace sage
