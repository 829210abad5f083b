// The way from a program to the driver: /dev/kfd for everything, one render node for each GPU. What the thunk does when
// a node is missing or refused is in facts/gfx.md 3: a missing render node hides its GPU without a word, a refused one
// (EACCES) stops every HSA program.

#include <algorithm>
#include <cerrno>

#include "doctor/checks/refusal.hpp"
#include "doctor/checks/registry.hpp"
#include "doctor/checks/scope.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

// Device nodes matter once KFD lists a GPU; before that, driver.* explains what is wrong.
std::optional<Finding> skip_without_kfd_gpu(const Facts& facts) {
  if (auto skip = skip_without_amdgpu(facts)) return skip;
  const std::vector<Gpu>& gpus = *facts.gpus.amd;
  if (std::any_of(gpus.begin(), gpus.end(), [](const Gpu& gpu) { return gpu.in_kfd.is(true); })) return std::nullopt;
  for (const Gpu& gpu : gpus) {
    if (auto skip = skip_unless_known({{"gpus.amd.in_kfd", &gpu.in_kfd}})) return skip;
  }
  return not_applicable("KFD lists no GPU");
}

std::vector<Finding> check_kfd_present(const CheckInput& input) {
  const Facts& facts = input.facts;
  const DeviceNode& kfd = facts.devices.kfd;
  if (auto skip = skip_without_kfd_gpu(facts)) return {*skip};
  if (auto skip = skip_unless_known({{"devices.kfd.present", &kfd.present}})) return {*skip};
  if (*kfd.present) {
    if (auto skip = skip_unless_known({{"devices.kfd.character_device", &kfd.character_device}})) return {*skip};
    if (*kfd.character_device) return {pass("/dev/kfd is there")};
    Finding finding = fail("/dev/kfd is not a device node");
    finding.evidence = {{"/dev/kfd", "not a character device"}};
    finding.cause =
        "Something created a file or folder of that name, such as a container's `-v /dev/kfd` on a host "
        "without it.";
    finding.confidence = Confidence::likely;
    finding.remedies = pass_devices_remedies(facts);
    finding.verify = "ls -l /dev/kfd    # begins with c";
    return {finding};
  }

  Finding finding = fail("the driver is ready, but /dev/kfd does not exist here");
  finding.evidence = {{"/dev/kfd", "ENOENT"}, {"/sys/class/kfd/kfd/topology", "lists a GPU"}};
  if (in_container(facts)) {
    finding.cause = "The host has it, but it was not passed into this container.";
    finding.remedies = pass_devices_remedies(facts);
  } else {
    finding.cause =
        "The driver offers the device, but /dev has no node: /dev is not the kernel's own (devtmpfs), or udev "
        "did not run.";
    finding.confidence = Confidence::possible;
    finding.remedies = {{"Let udev create it.", {"sudo udevadm trigger --subsystem-match=kfd"}, {Need::sudo}}};
    if (!facts.platform.container.known()) {
      const auto more = pass_devices_remedies(facts);
      finding.remedies.insert(finding.remedies.end(), more.begin(), more.end());
    }
  }
  finding.verify = "ls -l /dev/kfd";
  return {finding};
}

std::vector<Finding> check_kfd_access(const CheckInput& input) {
  const Facts& facts = input.facts;
  const DeviceNode& kfd = facts.devices.kfd;
  if (auto skip = skip_without_kfd_gpu(facts)) return {*skip};
  if (kfd.present.is(false)) return {not_applicable("/dev/kfd does not exist")};
  // access(2) can show that opening fails, not that it succeeds.
  const bool refused_by_access = !kfd.open.known() && kfd.access.known() && !kfd.access->ok();
  if (!refused_by_access) {
    if (auto skip = skip_unless_known({{"devices.kfd.open", &kfd.open}})) return {*skip};
  }
  const Errno result = refused_by_access ? *kfd.access : *kfd.open;
  if (result.ok()) return {pass("/dev/kfd opens for reading and writing")};

  Finding finding = fail("/dev/kfd can't be opened: " + errno_text(result));
  explain_refusal(facts, kfd, result, finding);
  return {finding};
}

// gpu_id in sysfs gives EPERM for a GPU that the device control group of this process excludes; the runtime then skips
// its node without a word (facts/gfx.md 3).
std::vector<Finding> check_gpu_hidden(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_kfd_gpu(facts)) return {*skip};
  // Without /dev/kfd nothing is hidden: nothing is there.
  const DeviceNode& kfd = facts.devices.kfd;
  if (auto skip = skip_unless_known({{"devices.kfd.present", &kfd.present}, {"devices.kfd.open", &kfd.open}})) {
    return {*skip};
  }
  if (!*kfd.present || !kfd.open->ok()) return {not_applicable("/dev/kfd does not open")};
  std::size_t listed = 0;
  std::vector<std::string> hidden;
  for (const Gpu& gpu : *facts.gpus.amd) {
    if (auto skip = skip_unless_known({{"gpus.amd.in_kfd", &gpu.in_kfd}})) return {*skip};
    if (!*gpu.in_kfd) continue;
    if (auto skip = skip_unless_known({{"gpus.amd.kfd_readable", &gpu.kfd_readable}})) return {*skip};
    ++listed;
    if (!*gpu.kfd_readable) hidden.push_back(gpu_label(gpu));
  }
  if (hidden.empty()) return {pass("no GPU is hidden from this process")};
  if (hidden.size() < listed) {
    return {info(std::to_string(hidden.size()) + " of " + counted(listed, "GPU") +
                 " are hidden from this process: " + join(hidden, ", "))};
  }
  Finding finding = fail(listed == 1 ? "the GPU is hidden from this process" : "every GPU is hidden from this process");
  finding.evidence = {{"/sys/class/kfd/kfd/topology/nodes/*/gpu_id", "EPERM"}};
  finding.cause =
      "The device control group of this process does not include the GPUs' nodes below /dev/dri, so the runtime leaves "
      "them out without a word.";
  if (facts.platform.container.is(ContainerKind::none)) {
    finding.remedies = {{"Ask the batch system for a GPU with the job, or allow the device in the service's unit "
                         "(`DeviceAllow=char-drm rw`).",
                         {},
                         {}}};
  } else {
    finding.remedies = pass_devices_remedies(facts);
  }
  finding.verify = "cat /sys/class/kfd/kfd/topology/nodes/*/gpu_id";
  return {finding};
}

const DeviceNode* render_node_of(const Facts& facts, const Gpu& gpu) {
  for (const DeviceNode& node : *facts.devices.dri) {
    if (node.path == *gpu.render_node) return &node;
  }
  return nullptr;
}

bool has_render_node(const Facts& facts, const Gpu& gpu) {
  if (!gpu.render_node.known()) return false;
  const DeviceNode* node = render_node_of(facts, gpu);
  return node != nullptr && node->present.is(true);
}

Finding render_present(const CheckInput& input, const Gpu& gpu) {
  const Facts& facts = input.facts;
  if (auto skip = skip_unless_known({{"gpus.amd.in_kfd", &gpu.in_kfd}})) return *skip;
  if (!*gpu.in_kfd) return not_applicable("KFD does not list this GPU");
  if (auto skip =
          skip_unless_known({{"gpus.amd.render_node", &gpu.render_node}, {"devices.dri", &facts.devices.dri}})) {
    return *skip;
  }
  const DeviceNode* node = render_node_of(facts, gpu);
  if (node != nullptr) {
    if (auto skip = skip_unless_known({{"devices.dri.present", &node->present}})) return *skip;
    if (*node->present) return pass(*gpu.render_node + " is there");
  }
  const std::string name = gpu.render_node->empty() ? "the render node of " : *gpu.render_node + " of ";
  const std::vector<Gpu>& gpus = *facts.gpus.amd;
  const bool others =
      std::any_of(gpus.begin(), gpus.end(), [&](const Gpu& one) { return has_render_node(facts, one); });
  if (in_container(facts) && others) {
    return info(gpu_label(gpu) + " is not passed into this container; another GPU is");
  }
  Finding finding = fail(name + gpu_label(gpu) + " does not exist, so the runtime leaves this GPU out without a word");
  finding.evidence = {{gpu.render_node->empty() ? "/dev/dri" : *gpu.render_node, "ENOENT"}};
  if (in_container(facts)) {
    finding.cause = "/dev/kfd was passed into this container, but /dev/dri was not.";
    finding.remedies = pass_devices_remedies(facts);
  } else {
    finding.cause = "The driver offers the GPU, but its node below /dev/dri is missing.";
    finding.confidence = Confidence::possible;
    finding.remedies = {{"Let udev create it.", {"sudo udevadm trigger --subsystem-match=drm"}, {Need::sudo}}};
    if (!facts.platform.container.known()) {
      const auto more = pass_devices_remedies(facts);
      finding.remedies.insert(finding.remedies.end(), more.begin(), more.end());
    }
  }
  finding.verify = "ls -l /dev/dri";
  return finding;
}

Finding render_access(const CheckInput& input, const Gpu& gpu) {
  const Facts& facts = input.facts;
  if (auto skip = skip_unless_known({{"gpus.amd.in_kfd", &gpu.in_kfd},
                                     {"gpus.amd.render_node", &gpu.render_node},
                                     {"devices.dri", &facts.devices.dri}})) {
    return *skip;
  }
  const DeviceNode* node = render_node_of(facts, gpu);
  if (!*gpu.in_kfd || node == nullptr || node->present.is(false)) return not_applicable("it has no render node here");

  // A sleeping GPU is not woken by opening its node: there the permissions have to do.
  const bool may_sleep = gpu.runtime_status.known() && *gpu.runtime_status != "active";
  const bool by_access = !node->open.known() && node->access.known() && (may_sleep || !node->access->ok());
  if (!by_access) {
    if (auto skip = skip_unless_known({{"devices.dri.open", &node->open}})) return *skip;
  }
  const Errno result = by_access ? *node->access : *node->open;
  if (result.ok()) {
    return pass(node->path + (by_access
                                  ? " may be opened; not tried, so as not to wake the GPU (" + *gpu.runtime_status + ")"
                                  : std::string(" opens for reading and writing")));
  }
  Finding finding = fail(node->path + " of " + gpu_label(gpu) + " can't be opened: " + errno_text(result));
  explain_refusal(facts, *node, result, finding);
  if (result.value == EACCES) finding.cause += " One refused render node stops every ROCm program, for other GPUs too.";
  return finding;
}

std::vector<Finding> check_render_present(const CheckInput& input) {
  return judge_each_gpu(input, render_present);
}
std::vector<Finding> check_render_access(const CheckInput& input) {
  return judge_each_gpu(input, render_access);
}

}  // namespace

std::vector<Check> device_checks() {
  return {
      {"device.kfd-present", "/dev/kfd exists", Topic::device, {"driver.kfd-node"}, check_kfd_present},
      {"device.kfd-access", "/dev/kfd opens", Topic::device, {"device.kfd-present"}, check_kfd_access},
      {"device.gpu-hidden", "GPUs hidden from this process", Topic::device, {"device.kfd-access"}, check_gpu_hidden},
      {"device.render-present", "render node exists", Topic::device, {"device.gpu-hidden"}, check_render_present},
      {"device.render-access", "render node opens", Topic::device, {"device.render-present"}, check_render_access},
  };
}

}  // namespace sage
