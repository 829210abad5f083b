#include "probes/host/live_host.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>

#include "probes/host/child.hpp"
#include "probes/host/descriptor.hpp"
#include "probes/host/drm_library.hpp"
#include "probes/host/dxg.hpp"
#include "probes/host/elf_reader.hpp"
#include "probes/host/file_calls.hpp"
#include "probes/host/kernel_log.hpp"
#include "probes/host/loader_cache.hpp"
#include "probes/host/mounts.hpp"
#include "probes/host/path_finder.hpp"
#include "probes/host/process_identity.hpp"
#include "probes/host/program.hpp"

extern "C" char** environ;

namespace sage {
namespace {

constexpr std::size_t most_names = 100'000;
constexpr std::size_t mountinfo_cap = 16 * 1024 * 1024;
constexpr std::size_t passwd_cap = 4 * 1024 * 1024;
constexpr std::size_t loader_cache_cap = 16 * 1024 * 1024;

Error name_path(const Error& error, const std::string& path) {
  return {error.number, path + ": " + error.text};
}

class LiveHost final : public Host {
 public:
  LiveHost() : mounts_(read_mounts()), finder_(mounts_.ok() ? *mounts_ : std::vector<Mount>{}) {}

  Result<std::string> read_file(const std::string& path, std::size_t cap) const override {
    return at(path, Links::follow,
              [&](const std::string& place, Links links) { return file_calls::read_whole(place, links, cap); });
  }

  Result<std::string> read_file_end(const std::string& path, std::size_t count) const override {
    return at(path, Links::follow,
              [&](const std::string& place, Links links) { return file_calls::read_end(place, links, count); });
  }

  Result<std::vector<std::string>> list_folder(const std::string& path) const override {
    return at(path, Links::follow,
              [](const std::string& place, Links links) { return file_calls::list(place, links, most_names); });
  }

  Result<FileStatus> status(const std::string& path, Links links) const override {
    return at(path, links, file_calls::status);
  }

  Result<std::string> read_link(const std::string& path) const override {
    return at(path, Links::keep, [](const std::string& place, Links) { return file_calls::link_text(place); });
  }

  Result<std::string> canonical(const std::string& path) const override {
    return at(path, Links::follow, [](const std::string& place, Links links) -> Result<std::string> {
      if (links == Links::keep) return place;  // found without links already
      return file_calls::resolve(place);
    });
  }

  Errno access_device(const std::string& path) const override {
    return errno_of(at(path, Links::follow, [](const std::string& place, Links) -> Result<Errno> {
      return Errno{faccessat(AT_FDCWD, place.c_str(), R_OK | W_OK, AT_EACCESS) == 0 ? 0 : errno};
    }));
  }

  Errno open_device(const std::string& path) const override {
    const auto place = finder_.find(path, Links::follow);
    if (!place.ok()) return errno_of(place.error());
    // In a child wherever it lies: a driver may block in open(2).
    return errno_of(call_in_child<Errno>(path, default_child_deadline, [&]() -> Result<Errno> {
      const Descriptor device(open(place->path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
      return Errno{device.valid() ? 0 : errno};
    }));
  }

  Result<std::uint64_t> filesystem_size(const std::string& path) const override {
    return at(path, Links::follow, [](const std::string& place, Links) { return file_calls::filesystem_bytes(place); });
  }

  std::map<std::string, std::string> environment() const override {
    std::map<std::string, std::string> allowed;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      const std::size_t sign = text.find('=');
      if (sign == std::string_view::npos || !environment_allowed(text.substr(0, sign))) continue;
      allowed.emplace(text.substr(0, sign), text.substr(sign + 1));  // of two, getenv(3) too sees the first
    }
    return allowed;
  }

  ProcessIdentity process() const override {
    if (!process_) process_ = identify_process(read_file("/etc/passwd", passwd_cap).value_or(""));
    return *process_;
  }

  std::int64_t now() const override {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

  Result<std::vector<Mount>> mounts() const override { return mounts_; }

  Result<LibcInfo> libc() const override { return running_libc(); }

  Result<std::vector<LoaderCacheEntry>> loader_cache() const override {
    if (!loader_cache_) {
      const auto bytes = read_file("/etc/ld.so.cache", loader_cache_cap);
      loader_cache_ = bytes.ok() ? parse_loader_cache(*bytes) : bytes.error();
    }
    return *loader_cache_;
  }

  Result<ElfFacts> elf(const std::string& path, const ElfQuery& query) const override {
    return at(path, Links::follow, [&](const std::string& place, Links links) -> Result<ElfFacts> {
      const auto file = file_calls::open_regular(place, links);
      if (!file.ok()) return file.error();
      return read_elf(file->number(), query);
    });
  }

  Result<std::vector<std::string>> kernel_log() const override { return read_kernel_log(); }

  Result<std::vector<DxgAdapterReply>> dxg_adapters() const override {
    const auto node = status("/dev/dxg", Links::follow);
    if (!node.ok()) return node.error();
    return call_in_child<std::vector<DxgAdapterReply>>("/dev/dxg", default_child_deadline, read_dxg_adapters);
  }

  Result<std::vector<DrmDeviceReply>> drm_devices(const std::vector<std::string>& render_nodes) const override {
    return call_in_child<std::vector<DrmDeviceReply>>("libdrm_amdgpu", default_child_deadline,
                                                      [&] { return ask_drm_library(render_nodes); });
  }

  Result<ProgramOutput> run_program(const std::vector<std::string>& arguments,
                                    std::chrono::milliseconds deadline) const override {
    const bool own = !arguments.empty() && arguments.front() == own_program;
    return own ? run_own_program(arguments, deadline) : run_foreign_program(arguments, deadline);
  }

 private:
  static Result<std::vector<Mount>> read_mounts() {
    constexpr const char* path = "/proc/self/mountinfo";
    const auto text = file_calls::read_whole(path, Links::follow, mountinfo_cap);
    if (!text.ok()) return name_path(text.error(), path);
    return parse_mountinfo(*text);
  }

  /// Calls `work(path, links)` where the path leads: here when that is local (then there is no link left to follow), in
  /// a child with a deadline when it may hang. A mount that hung once is not tried again.
  template <class Work>
  std::invoke_result_t<Work, std::string, Links> at(const std::string& path, Links links, const Work& work) const {
    const auto place = finder_.find(path, links);
    if (!place.ok()) return name_path(place.error(), path);
    auto answer = place->waits_on.empty() ? work(place->path, Links::keep) : patiently(*place, links, work);
    if (!answer.ok()) return name_path(answer.error(), path);
    return answer;
  }

  template <class Work>
  std::invoke_result_t<Work, std::string, Links> patiently(const Place& place, Links links, const Work& work) const {
    using Answer = std::decay_t<decltype(work(place.path, links).value())>;
    if (hung_mounts_.contains(place.waits_on)) {
      return Error{ETIMEDOUT, "the filesystem at " + place.waits_on + " does not answer"};
    }
    auto answer = call_in_child<Answer>("filesystem at " + place.waits_on, default_child_deadline,
                                        [&] { return work(place.path, links); });
    if (!answer.ok() && answer.error().number == ETIMEDOUT) hung_mounts_.insert(place.waits_on);
    return answer;
  }

  /// The answer of a call that itself tells an errno; EIO when it could not be made and nothing says why.
  static Errno errno_of(const Result<Errno>& answer) {
    if (answer.ok()) return *answer;
    return Errno{answer.error().number != 0 ? answer.error().number : EIO};
  }

  Result<std::vector<Mount>> mounts_;
  mutable PathFinder finder_;  ///< remembers folders
  mutable std::set<std::string> hung_mounts_;
  // Many probes ask for these; each is read once.
  mutable std::optional<ProcessIdentity> process_;
  mutable std::optional<Result<std::vector<LoaderCacheEntry>>> loader_cache_;
};

}  // namespace

std::unique_ptr<Host> make_live_host() {
  return std::make_unique<LiveHost>();
}

}  // namespace sage
