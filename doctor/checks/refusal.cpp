#include "doctor/checks/refusal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "doctor/checks/scope.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

// The gid that stands for every group that a user namespace does not map.
constexpr std::uint32_t overflow_gid = 65534;

struct DeviceFlags {
  ContainerKind kind;
  std::string_view text;
  std::string_view command;
  std::string_view second = {};
};

constexpr auto device_flags = std::to_array<DeviceFlags>({
    {ContainerKind::docker,
     "Start the container with the GPU's device nodes.", "docker run --device=/dev/kfd --device=/dev/dri IMAGE"},
    {ContainerKind::podman, "Start the container with the GPU's device nodes and your groups.",
     "podman run --device=/dev/kfd --device=/dev/dri --group-add keep-groups IMAGE"},
    {ContainerKind::apptainer, "Start the container with ROCm support; with --containall also bind the nodes.",
     "apptainer exec --rocm IMAGE COMMAND", "apptainer exec --containall --bind /dev/kfd,/dev/dri IMAGE COMMAND"},
    {ContainerKind::lxc, "On the host add the device nodes (for Proxmox: `dev0: /dev/kfd` in the container's file).",
     "lxc config device add CONTAINER kfd unix-char source=/dev/kfd path=/dev/kfd",
     "lxc config device add CONTAINER gpu gpu"},
    {ContainerKind::kubernetes,
     "Install AMD's device plugin and ask for the GPU in the pod: `resources: limits: "
     "amd.com/gpu: 1`.",
     "kubectl create -f "
     "https://raw.githubusercontent.com/ROCm/k8s-device-plugin/master/k8s-ds-amdgpu-dp.yaml"},
    {ContainerKind::toolbox,
     "A toolbox shares the host's /dev: if the nodes exist there, create it anew.", "toolbox create"},
});

const DeviceFlags* flags_of(const Facts& facts) {
  for (const DeviceFlags& flags : device_flags) {
    if (facts.platform.container.is(flags.kind)) return &flags;
  }
  return nullptr;
}

const Group* group_with(const Facts& facts, std::uint32_t gid) {
  if (!facts.devices.groups.known()) return nullptr;
  for (const Group& group : *facts.devices.groups) {
    if (group.gid == gid) return &group;
  }
  return nullptr;
}

// A --group-add for each number that /dev/kfd and the render nodes want and the process lacks: whoever mends one of
// them only meets the next.
std::string group_flags(const Facts& facts, std::uint32_t gid) {
  std::set<std::uint32_t> wanted = {gid};
  const auto want = [&](const DeviceNode& node) {
    if (node.gid.known() && *node.gid != 0 && node.access.known() && node.access->value == EACCES) {
      wanted.insert(*node.gid);
    }
  };
  want(facts.devices.kfd);
  for (const DeviceNode& node : facts.devices.dri.value_or({})) {
    if (contains(node.path, "/renderD")) want(node);
  }
  std::string flags;
  for (const std::uint32_t number : wanted) flags += " --group-add " + std::to_string(number);
  return flags;
}

void explain_group_in_container(const Facts& facts, std::uint32_t gid, Finding& finding) {
  const std::string number = std::to_string(gid);
  if (gid == overflow_gid) {
    finding.cause = "The container runs without root and does not map the group that owns the node.";
    finding.remedies = {{"Keep your groups of the host.",
                         {"podman run --group-add keep-groups --device=/dev/kfd --device=/dev/dri IMAGE"},
                         {Need::container_restart}}};
    return;
  }
  finding.cause =
      "The node belongs to group " + number +
      ", and this process does not carry that number. Only numbers count here: a group called render inside "
      "the image may have another one.";
  if (facts.platform.container.is(ContainerKind::podman)) {
    finding.remedies = {{"Keep your groups of the host; on the host you must be a member of group " + number + ":",
                         {"podman run --group-add keep-groups --device=/dev/kfd --device=/dev/dri IMAGE"},
                         {Need::container_restart}}};
  } else if (facts.platform.container.is(ContainerKind::kubernetes)) {
    finding.remedies = {
        {"Add `supplementalGroups: [" + number + "]` to the pod's securityContext.", {}, {Need::container_restart}}};
  } else if (facts.platform.container.is(ContainerKind::lxc)) {
    finding.remedies = {
        {"On the host, give the node the number of the container's own group (Proxmox: `dev0: "
         "/dev/kfd,gid=NUMBER`).",
         {"lxc config device set CONTAINER kfd gid=\"$(lxc exec CONTAINER -- getent group render | cut -d: "
          "-f3)\""},
         {Need::container_restart}}};
  } else if (facts.platform.container.is(ContainerKind::apptainer) ||
             facts.platform.container.is(ContainerKind::toolbox)) {
    finding.remedies = {{"This container runs with your groups of the host. Join the group there and log in again.",
                         {"sudo usermod -aG \"$(getent group " + number + " | cut -d: -f1)\" \"$USER\""},
                         {Need::sudo, Need::new_login}}};
  } else {
    finding.remedies = {{"Start the container with that number.",
                         {"docker run --device=/dev/kfd --device=/dev/dri" + group_flags(facts, gid) + " IMAGE"},
                         {Need::container_restart}}};
  }
}

void explain_group_on_host(const Facts& facts, std::uint32_t gid, Finding& finding) {
  const Group* group = group_with(facts, gid);
  const std::string number = std::to_string(gid);
  if (facts.devices.groups.known() && group == nullptr) {
    // usermod(8) writes /etc/group and nothing else.
    finding.cause = "The node belongs to group " + number +
                    ", which /etc/group does not name: it comes from a user directory such as LDAP, or has no name.";
    finding.confidence = Confidence::likely;
    finding.remedies = {{"Ask the administrator of the user directory to add you to the group of that number, then log "
                         "out and in again.",
                         {"getent group " + number},
                         {Need::new_login}}};
    return;
  }
  const std::string name = group != nullptr ? group->name : "";
  const std::string joined = name.empty() ? "\"$(getent group " + number + " | cut -d: -f1)\"" : name;
  const std::string called = name.empty() ? number : name;
  if (group != nullptr && group->lists_user.is(true)) {
    finding.cause =
        "You are a member of group " + called + ", but this session began before that: it does not carry it yet.";
    finding.remedies = {
        {"Log out and in again (on a remote machine end every session; with tmux or a desktop, reboot).",
         {},
         {Need::new_login}},
        {"For this one shell only.", {"newgrp " + joined}, {}}};
    return;
  }
  finding.cause = "The node belongs to group " + called + ", and you are not a member.";
  if (group == nullptr || !group->lists_user.known()) finding.confidence = Confidence::likely;
  finding.remedies = {{"Join the group, then log out and in again.",
                       {"sudo usermod -aG " + joined + " \"$USER\""},
                       {Need::sudo, Need::new_login}}};
}

void explain_missing_rule(const DeviceNode& node, Finding& finding) {
  finding.cause = "The node is not open to any group of users: the udev rule that gives it to `render` is missing.";
  finding.confidence = Confidence::likely;
  const std::string match = node.path == "/dev/kfd" ? "KERNEL==\"kfd\"" : "SUBSYSTEM==\"drm\", KERNEL==\"renderD*\"";
  const std::string file =
      "/etc/udev/rules.d/70-amdgpu-" + std::string(node.path == "/dev/kfd" ? "kfd" : "render") + ".rules";
  finding.remedies = {{"Add the rule, apply it, and join that group.",
                       {"echo '" + match + ", GROUP=\"render\", MODE=\"0660\"' | sudo tee " + file,
                        "sudo udevadm control --reload && sudo udevadm trigger", "sudo usermod -aG render \"$USER\""},
                       {Need::sudo, Need::new_login}}};
}

void explain_security_layer(const DeviceNode& node, Finding& finding) {
  finding.cause =
      "Owner, mode and groups would allow it: an access list, SELinux or AppArmor, or a user namespace refuses.";
  finding.confidence = Confidence::possible;
  finding.remedies = {{"See which one.",
                       {"getfacl " + node.path, "sudo ausearch -m avc -ts recent | grep " + node.path.substr(5)},
                       {Need::sudo}}};
}

// EACCES.
void explain_permission(const Facts& facts, const DeviceNode& node, Finding& finding) {
  constexpr std::uint32_t group_read_write = 0060;
  const Devices& devices = facts.devices;
  if (!node.gid.known() || !node.mode.known() || !devices.process_groups.known()) {
    finding.cause = "You may not open the node; its owner or your groups could not be read.";
    finding.confidence = Confidence::likely;
    finding.remedies = {{"Look at both, and join the group that owns the node.",
                         {"ls -ln " + node.path, "id", "sudo usermod -aG render \"$USER\""},
                         {Need::sudo, Need::new_login}}};
    return;
  }
  const auto& carried = *devices.process_groups;
  const bool carries = std::find(carried.begin(), carried.end(), *node.gid) != carried.end();
  const bool open_to_group = (*node.mode & group_read_write) == group_read_write;
  if (in_container(facts) && open_to_group && !carries) return explain_group_in_container(facts, *node.gid, finding);
  if (!open_to_group || *node.gid == 0) return explain_missing_rule(node, finding);
  if (carries) return explain_security_layer(node, finding);
  explain_group_on_host(facts, *node.gid, finding);
  if (!facts.platform.container.known()) {
    finding.confidence = Confidence::likely;
    finding.remedies.push_back({"If this is a container, start it with the group's number instead.",
                                {"docker run --group-add " + std::to_string(*node.gid) + " IMAGE"},
                                {Need::container_restart}});
  }
}

// EPERM: the permissions of the node are fine, the control group of the process excludes the device.
void explain_device_cgroup(const Facts& facts, const DeviceNode& node, Finding& finding) {
  finding.cause = "The device control group of this process does not include the node.";
  if (facts.platform.container.is(ContainerKind::none)) {
    finding.confidence = Confidence::likely;
    finding.remedies = {{"For a systemd service allow the device in its unit (`DeviceAllow=" + node.path +
                             " rw`); for a batch system ask for a GPU with the job.",
                         {},
                         {Need::sudo}}};
    return;
  }
  finding.cause += " A bind mount (`-v " + node.path + "`) shows a node without allowing it; `--device` does both.";
  finding.remedies = pass_devices_remedies(facts);
}

// ENXIO and ENODEV.
void explain_no_driver(const Facts& facts, const DeviceNode& node, Finding& finding) {
  finding.cause = "The node exists, but no driver answers behind it: it is left over, or has the wrong number.";
  finding.confidence = Confidence::likely;
  if (in_container(facts)) {
    finding.remedies = {{"The driver was loaded anew after the container started: start the container again.",
                         {},
                         {Need::container_restart}}};
  } else {
    finding.remedies = {{"Compare the node's number with the driver's, then load the driver anew or reboot.",
                         {"ls -l " + node.path + "; grep -E 'kfd|drm' /proc/devices"},
                         {Need::reboot}}};
  }
}

}  // namespace

std::vector<Remedy> pass_devices_remedies(const Facts& facts) {
  if (const DeviceFlags* flags = flags_of(facts)) {
    Remedy remedy{std::string(flags->text), {std::string(flags->command)}, {Need::container_restart}};
    if (!flags->second.empty()) remedy.commands.emplace_back(flags->second);
    return {remedy};
  }
  return {{"If this is a container, start it with the GPU's device nodes.",
           {"docker run --device=/dev/kfd --device=/dev/dri IMAGE"},
           {Need::container_restart}}};
}

void explain_refusal(const Facts& facts, const DeviceNode& node, Errno refused, Finding& finding) {
  finding.evidence.push_back({node.path, errno_name(refused) + "; " + owner_and_mode(node)});
  if (facts.devices.process_groups.known()) {
    std::string carried;
    for (const std::uint32_t gid : *facts.devices.process_groups)
      carried += (carried.empty() ? "" : " ") + std::to_string(gid);
    finding.evidence.push_back({"groups of this process", carried});
  }
  finding.verify = "test -r " + node.path + " && test -w " + node.path + " && echo ok";
  switch (refused.value) {
    case EACCES:
      return explain_permission(facts, node, finding);
    case EPERM:
      return explain_device_cgroup(facts, node, finding);
    case ENXIO:
    case ENODEV:
      return explain_no_driver(facts, node, finding);
    case EBUSY:
      finding.cause = "The driver is busy, as after a GPU reset, or another program holds the GPU alone.";
      finding.confidence = Confidence::possible;
      finding.remedies = {{"See who uses it, wait, or reboot.", {"sudo fuser -v " + node.path}, {Need::sudo}}};
      return;
    default:
      finding.cause = "The kernel answered \"" + errno_text(refused) + "\".";
      finding.confidence = Confidence::possible;
      finding.remedies = {{"Read what the driver says.", {"sudo dmesg | grep -iE 'amdgpu|kfd' | tail"}, {Need::sudo}}};
  }
}

}  // namespace sage
