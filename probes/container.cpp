// There is no system call for "am I in a container?". Each engine leaves its own mark: a file, a variable, or the name
// of the control group. None of them is left by all engines, several are left together (a toolbox is a podman
// container, a pod is a containerd one), and systemd marks a WSL distribution as a container although it is a whole
// machine. So the marks are tried from the most special to the most general, and the first one that is found decides.

#include "probes/container.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "probes/base/text.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

struct Mark {
  std::string_view sign;
  ContainerKind kind;
};

// The name that an engine gives itself in the variable `container` (systemd's container interface) and in
// /run/systemd/container. "wsl" stands there in every WSL2 distribution that runs systemd: no container.
constexpr std::array managers = {
    Mark{"docker", ContainerKind::docker},   Mark{"podman", ContainerKind::podman}, Mark{"lxc", ContainerKind::lxc},
    Mark{"lxc-libvirt", ContainerKind::lxc}, Mark{"wsl", ContainerKind::none},
};

constexpr std::array group_names = {
    Mark{"/kubepods", ContainerKind::kubernetes},  Mark{"/docker/", ContainerKind::docker},
    Mark{"/docker-", ContainerKind::docker},       Mark{"/libpod-", ContainerKind::podman},
    Mark{"/libpod_parent", ContainerKind::podman}, Mark{"/lxc/", ContainerKind::lxc},
    Mark{"/lxc.payload", ContainerKind::lxc},
};

/// Looks at one place after the other and remembers whether at least one of them gave an answer, "not there" included.
class Marks {
 public:
  explicit Marks(const Host& host) : host_(host), variables_(host.environment()) {}

  bool file(const std::string& path) {
    const Fact<bool> there = exists(host_, path);
    note(there.known(), there.known() ? Error{} : there.why_unknown());
    return there.value_or(false);
  }

  std::string text(const std::string& path) {
    const Result<std::string> text = host_.read_file(path);
    note(text.ok() || is_absent(text.error()), text.ok() ? Error{} : text.error());
    return text.value_or("");
  }

  [[nodiscard]] std::string variable(const std::string& name) const {
    const auto found = variables_.find(name);
    return found == variables_.end() ? std::string() : found->second;
  }

  [[nodiscard]] bool anything_seen() const { return seen_; }
  [[nodiscard]] const Error& last_error() const { return last_error_; }

 private:
  void note(bool answered, const Error& error) {
    seen_ = seen_ || answered;
    if (!answered) last_error_ = error;
  }

  const Host& host_;
  std::map<std::string, std::string> variables_;
  bool seen_ = false;
  Error last_error_;
};

std::optional<ContainerKind> by_manager(std::string_view name) {
  name = trim(name);
  if (name.empty()) return std::nullopt;
  for (const Mark& mark : managers) {
    if (name == mark.sign) return mark.kind;
  }
  return ContainerKind::other;
}

std::optional<ContainerKind> by_control_group(std::string_view text) {
  for (const Mark& mark : group_names) {
    if (contains(text, mark.sign)) return mark.kind;
  }
  return std::nullopt;
}

ContainerKind first_mark(Marks& marks) {
  if (marks.file("/run/.toolboxenv")) return ContainerKind::toolbox;
  for (const char* name : {"APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"}) {
    if (!marks.variable(name).empty()) return ContainerKind::apptainer;
  }
  if (marks.file("/.singularity.d")) return ContainerKind::apptainer;
  if (!marks.variable("KUBERNETES_SERVICE_HOST").empty()) return ContainerKind::kubernetes;
  if (marks.file("/var/run/secrets/kubernetes.io")) return ContainerKind::kubernetes;
  if (marks.file("/run/.containerenv")) return ContainerKind::podman;
  if (marks.file("/.dockerenv")) return ContainerKind::docker;

  for (const std::string& name : {marks.variable("container"), marks.text("/run/systemd/container")}) {
    const auto kind = by_manager(name);
    if (kind && *kind != ContainerKind::none) return *kind;
  }
  for (const char* path : {"/proc/self/cgroup", "/proc/1/cgroup"}) {
    if (const auto kind = by_control_group(marks.text(path))) return *kind;
  }
  return marks.file("/.flatpak-info") ? ContainerKind::other : ContainerKind::none;
}

/// WSL's own containers look like any other engine's from inside, but their runtime writes ld.wsl.conf and mounts the
/// whole of /usr/lib/wsl (facts/wsl.md 2.7).
bool made_by_wsl(Marks& marks) {
  return contains(marks.text("/proc/sys/kernel/osrelease"), "microsoft") && marks.file("/usr/lib/wsl/lib") &&
         marks.file("/usr/lib/wsl/drivers") && marks.file("/etc/ld.so.conf.d/ld.wsl.conf");
}

}  // namespace

Fact<ContainerKind> probe_container(const Host& host) {
  Marks marks(host);
  const ContainerKind kind = first_mark(marks);
  if (kind == ContainerKind::none) {
    if (!marks.anything_seen()) return Fact<ContainerKind>::unknown(marks.last_error());
    return kind;
  }
  const bool generic = kind == ContainerKind::docker || kind == ContainerKind::other;
  return generic && made_by_wsl(marks) ? ContainerKind::wslc : kind;
}

std::optional<Error> hidden_by_container(const Fact<ContainerKind>& container, const std::string& what) {
  if (container.is(ContainerKind::none)) return std::nullopt;
  if (container.known()) return Error{0, "the host's " + what + " can't be seen from inside a container"};
  return Error{container.why_unknown().number,
               "is this a container that hides the host's " + what + "? " + container.why_unknown().text};
}

}  // namespace sage
