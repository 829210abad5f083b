#include <doctest/doctest.h>

#include <cerrno>

#include "probes/base/text.hpp"
#include "tests/support/sample_facts.hpp"

namespace sage {
namespace {

using namespace std::string_literals;

using test::commands_of;
using test::finding_of;
using test::findings_of;
using test::healthy_facts;

constexpr auto device_ids = {"device.kfd-present", "device.kfd-access", "device.render-present",
                             "device.render-access"};

void refuse(DeviceNode& node, int number) {
  node.open = Errno{number};
  node.access = Errno{number};
}

Facts outside_render() {
  Facts facts = healthy_facts();
  refuse(facts.devices.kfd, EACCES);
  facts.devices.process_groups = std::vector<std::uint32_t>{44, 1000};
  facts.devices.groups.value()[1].in_process = false;
  facts.devices.groups.value()[1].lists_user = false;
  return facts;
}

}  // namespace

TEST_CASE("a healthy machine passes every device check") {
  for (const char* id : device_ids) {
    CAPTURE(id);
    CHECK(finding_of(id, healthy_facts()).status == Status::pass);
  }
}

TEST_CASE("device nodes do not matter on WSL2, without a GPU, or before KFD lists one") {
  Facts wsl = healthy_facts();
  wsl.platform.kind = PlatformKind::wsl2;
  wsl.devices.kfd.present = false;
  Facts none = healthy_facts();
  none.gpus.amd = std::vector<Gpu>{};
  Facts outside = healthy_facts();
  outside.gpus.amd.value()[0].in_kfd = false;
  outside.devices.kfd.present = false;
  for (const char* id : device_ids) {
    CAPTURE(id);
    CHECK(finding_of(id, wsl).status == Status::skip);
    CHECK(finding_of(id, none).status == Status::skip);
    CHECK(finding_of(id, outside).status == Status::skip);
  }
}

TEST_CASE("a missing /dev/kfd fails with the flags of the container at hand") {
  struct Expected {
    ContainerKind kind;
    const char* command;
  };
  for (const auto& [kind, command] :
       {Expected{ContainerKind::docker, "docker run --device=/dev/kfd --device=/dev/dri"},
        Expected{ContainerKind::podman, "podman run --device=/dev/kfd"},
        Expected{ContainerKind::apptainer, "apptainer exec --rocm"},
        Expected{ContainerKind::lxc, "lxc config device add"}, Expected{ContainerKind::none, "udevadm trigger"}}) {
    Facts facts = test::in_a_container(healthy_facts(), kind);
    facts.devices.kfd.present = false;
    const Finding finding = finding_of("device.kfd-present", facts);
    CAPTURE(command);
    CHECK(finding.status == Status::fail);
    CHECK(contains(commands_of(finding), command));
  }
}

TEST_CASE("a /dev/kfd that is no device fails") {
  Facts facts = healthy_facts();
  facts.devices.kfd.character_device = false;
  CHECK(finding_of("device.kfd-present", facts).status == Status::fail);
}

TEST_CASE("who is not in the group is told to join it by name") {
  const Finding finding = finding_of("device.kfd-access", outside_render());
  CHECK(finding.status == Status::fail);
  CHECK(contains(commands_of(finding), "sudo usermod -aG render \"$USER\""));
}

TEST_CASE("who is in the group but not this session is told to log in again, not to join") {
  Facts facts = outside_render();
  facts.devices.groups.value()[1].lists_user = true;
  const Finding finding = finding_of("device.kfd-access", facts);
  CHECK(finding.status == Status::fail);
  CHECK(contains(commands_of(finding), "newgrp render"));
  CHECK_FALSE(contains(commands_of(finding), "usermod"));
}

TEST_CASE("a container is told the number of the group") {
  const Facts facts = test::in_a_container(outside_render(), ContainerKind::docker);
  CHECK(contains(commands_of(finding_of("device.kfd-access", facts)), "--group-add 992"));
  const Facts rootless = test::in_a_container(outside_render(), ContainerKind::podman);
  CHECK(contains(commands_of(finding_of("device.kfd-access", rootless)), "--group-add keep-groups"));
}

TEST_CASE("an unknown kind of container leaves the failure and gives both remedies") {
  Facts facts = outside_render();
  facts.platform.container = Fact<ContainerKind>::unknown("blanked");
  const Finding finding = finding_of("device.kfd-access", facts);
  CHECK(finding.status == Status::fail);
  CHECK(contains(commands_of(finding), "usermod"));
  CHECK(contains(commands_of(finding), "--group-add 992"));
}

TEST_CASE("a group that /etc/group does not name is a matter of the user directory") {
  Facts facts = outside_render();
  facts.devices.groups = std::vector<Group>{};
  const Finding finding = finding_of("device.kfd-access", facts);
  CHECK(finding.status == Status::fail);
  CHECK_FALSE(contains(commands_of(finding), "usermod"));
  CHECK(contains(commands_of(finding), "getent group 992"));
}

TEST_CASE("a container is told every number that it lacks, not the first alone") {
  Facts facts = test::in_a_container(outside_render(), ContainerKind::docker);
  DeviceNode render;
  render.path = "/dev/dri/renderD128";
  render.gid = std::uint32_t{105};
  render.access = Errno{EACCES};
  facts.devices.dri = std::vector<DeviceNode>{render};
  CHECK(contains(commands_of(finding_of("device.kfd-access", facts)), "--group-add 105 --group-add 992"));
}

TEST_CASE("a node that no group may use gets a udev rule") {
  Facts facts = outside_render();
  facts.devices.kfd.mode = 0600U;
  CHECK(contains(commands_of(finding_of("device.kfd-access", facts)), "udev/rules.d"));
}

TEST_CASE("the errno decides: a device cgroup and a missing driver are no matter of groups") {
  Facts facts = test::in_a_container(healthy_facts(), ContainerKind::docker);
  refuse(facts.devices.kfd, EPERM);
  CHECK(contains(commands_of(finding_of("device.kfd-access", facts)), "--device=/dev/kfd"));
  for (const int number : {ENXIO, ENODEV, EBUSY, EIO}) {
    refuse(facts.devices.kfd, number);
    const Finding finding = finding_of("device.kfd-access", facts);
    CAPTURE(number);
    CHECK(finding.status == Status::fail);
    CHECK_FALSE(contains(commands_of(finding), "usermod"));
    CHECK_FALSE(finding.cause.empty());
  }
}

TEST_CASE("no remedy ever opens a node to everybody") {
  for (const int number : {EACCES, EPERM, ENXIO, ENODEV, EBUSY, EIO}) {
    for (const auto& [kind, name] : enum_names<ContainerKind>) {
      Facts facts = test::in_a_container(outside_render(), kind);
      refuse(facts.devices.kfd, number);
      CAPTURE(name);
      CHECK_FALSE(contains(commands_of(finding_of("device.kfd-access", facts)), "chmod"));
    }
  }
}

TEST_CASE("access(2) can prove a refusal of /dev/kfd but not that it opens") {
  Facts facts = outside_render();
  facts.devices.kfd.open = Fact<Errno>::unknown("not tried");
  CHECK(finding_of("device.kfd-access", facts).status == Status::fail);
  facts.devices.kfd.access = Errno{0};
  CHECK(finding_of("device.kfd-access", facts).status == Status::skip);
}

TEST_CASE("a missing render node fails on a host, and is a choice in a container that has another GPU") {
  Facts facts = healthy_facts();
  facts.devices.dri = std::vector<DeviceNode>{};
  CHECK(finding_of("device.render-present", facts).status == Status::fail);
  CHECK(finding_of("device.render-present", test::in_a_container(facts, ContainerKind::docker)).status == Status::fail);

  Facts two = test::in_a_container(healthy_facts(), ContainerKind::docker);
  two.gpus.amd.value().push_back(test::integrated_gpu());
  const auto findings = findings_of("device.render-present", two);
  CHECK(findings[0].status == Status::pass);
  CHECK(findings[1].status == Status::info);
  two.platform.container = ContainerKind::none;
  CHECK(findings_of("device.render-present", two)[1].status == Status::fail);
}

TEST_CASE("a sleeping GPU is judged by the permissions of its node, an awake one only by opening it") {
  Facts facts = healthy_facts();
  DeviceNode& node = facts.devices.dri.value()[0];
  node.open = Fact<Errno>::unknown("the GPU sleeps");
  CHECK(finding_of("device.render-access", facts).status == Status::skip);
  facts.gpus.amd.value()[0].runtime_status = "suspended"s;
  CHECK(finding_of("device.render-access", facts).status == Status::pass);
  node.access = Errno{EACCES};
  CHECK(finding_of("device.render-access", facts).status == Status::fail);
}

}  // namespace sage
