#pragma once

#include <array>
#include <string>
#include <vector>

#include "probes/base/enum_names.hpp"

namespace sage {

enum class Status { pass, info, skip, warn, error, fail };

template <>
inline constexpr auto enum_names<Status> = std::to_array<EnumName<Status>>({
    {Status::pass, "pass"},
    {Status::info, "info"},
    {Status::skip, "skip"},
    {Status::warn, "warn"},
    {Status::error, "error"},
    {Status::fail, "fail"},
});

enum class Confidence { certain, likely, possible };

template <>
inline constexpr auto enum_names<Confidence> = std::to_array<EnumName<Confidence>>({
    {Confidence::certain, "certain"},
    {Confidence::likely, "likely"},
    {Confidence::possible, "possible"},
});

/// The groups of a report, in the order in which they are printed.
enum class Topic { platform, gpu, wsl, driver, device, environment, python, libraries, toolchain, build, proof, log };

template <>
inline constexpr auto enum_names<Topic> = std::to_array<EnumName<Topic>>({
    {Topic::platform, "platform"},
    {Topic::gpu, "gpu"},
    {Topic::wsl, "wsl"},
    {Topic::driver, "driver"},
    {Topic::device, "device"},
    {Topic::environment, "environment"},
    {Topic::python, "python"},
    {Topic::libraries, "libraries"},
    {Topic::toolchain, "toolchain"},
    {Topic::build, "build"},
    {Topic::proof, "proof"},
    {Topic::log, "log"},
});

/// What a remedy needs besides typing it.
enum class Need { sudo, new_login, reboot, windows, wsl_restart, container_restart };

template <>
inline constexpr auto enum_names<Need> = std::to_array<EnumName<Need>>({
    {Need::sudo, "sudo"},
    {Need::new_login, "new-login"},
    {Need::reboot, "reboot"},
    {Need::windows, "windows"},
    {Need::wsl_restart, "wsl-restart"},
    {Need::container_restart, "container-restart"},
});

/// One thing that was seen: where, and what stood there.
struct Evidence {
  std::string source;  ///< a path, a variable's name, a program or an interface
  std::string value;
};

struct Remedy {
  std::string text;                   ///< one or two sentences; may be all there is
  std::vector<std::string> commands;  ///< ready to paste, one a line
  std::vector<Need> needs;

  friend bool operator==(const Remedy&, const Remedy&) = default;
};

/// The outcome of one check for one subject. The check fills the middle; the registry adds id, title and topic, the
/// runner blocked_by, the configuration suppressed.
struct Finding {
  std::string id;       ///< "device.kfd-access"; never renamed, never reused
  std::string title;
  Topic topic = Topic::platform;
  std::string subject;  ///< which GPU, file or variable; empty when there is only one
  Status status = Status::pass;

  std::string observed;  ///< one sentence: what is the case
  std::vector<Evidence> evidence;
  std::string cause;     ///< why it is so; empty for passes
  Confidence confidence = Confidence::certain;  ///< in the cause
  std::vector<Remedy> remedies;                 ///< the best first
  std::string verify;    ///< a command that shows that the remedy worked
  std::string ask;       ///< a command that would decide whether the cause is the right one; empty: nothing is open

  std::string blocked_by;  ///< id of the failed check that this one had to wait for
  bool suppressed = false;
  std::string suppressed_reason;
};

}  // namespace sage
