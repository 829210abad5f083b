#include "probes/devices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>

#include "tests/support/memory_host.hpp"

namespace sage {
namespace {

Gpus one_gpu(const char* node, const char* status) {
  Gpu gpu;
  gpu.render_node = std::string(node);
  gpu.runtime_status = std::string(status);
  Gpus gpus;
  gpus.amd = std::vector<Gpu>{gpu};
  return gpus;
}

MemoryHost desktop() {
  MemoryHost host;
  host.identity.uid = host.identity.effective_uid = 1000;
  host.identity.gid = 1000;
  host.identity.groups = {44, 4};
  host.identity.user = "ada";
  host.device("/dev/kfd", 0660, 0, 992, Errno{EACCES}, Errno{EACCES});
  host.device("/dev/dri/card1", 0660, 0, 44);
  host.device("/dev/dri/renderD128", 0660, 0, 992);
  host.file("/etc/group", "root:x:0:\nvideo:x:44:ada\nrender:x:992:bob,ada\nada:x:1000:\nadm:x:4:ada\n");
  return host;
}

bool was_opened(const MemoryHost& host, const std::string& path) {
  return std::find(host.opened.begin(), host.opened.end(), path) != host.opened.end();
}

}  // namespace

TEST_CASE("a device node is described as it is, with what access and opening gave") {
  const Devices devices = probe_devices(desktop(), one_gpu("/dev/dri/renderD128", "active"));
  CHECK(devices.kfd.present.is(true));
  CHECK(devices.kfd.character_device.is(true));
  CHECK(devices.kfd.mode.is(0660));
  CHECK(devices.kfd.gid.is(992));
  CHECK(devices.kfd.access.is(Errno{EACCES}));
  CHECK(devices.kfd.open.is(Errno{EACCES}));
  CHECK(devices.dxg.present.is(false));
  CHECK_FALSE(devices.dxg.open.known());
  CHECK(devices.dxg.mode.why_unknown().text == "/dev/dxg does not exist");
}

TEST_CASE("a render node is opened only when its GPU is known to be awake, a card node never") {
  const MemoryHost awake = desktop();
  CHECK(probe_devices(awake, one_gpu("/dev/dri/renderD128", "active")).dri->at(1).open.is(Errno{}));
  CHECK(was_opened(awake, "/dev/dri/renderD128"));
  CHECK_FALSE(was_opened(awake, "/dev/dri/card1"));

  const auto left_closed = [](const Gpus& gpus) {
    const MemoryHost host = desktop();
    const Devices devices = probe_devices(host, gpus);
    CHECK_FALSE(was_opened(host, "/dev/dri/renderD128"));
    CHECK(devices.dri->at(1).access.is(Errno{}));
    return devices.dri->at(1).open.why_unknown().text;
  };
  CHECK(left_closed(one_gpu("/dev/dri/renderD128", "suspended")) == "not tried: the GPU sleeps (suspended)");
  CHECK(left_closed(one_gpu("/dev/dri/renderD129", "active")) == "not tried: its GPU is not known");
  CHECK(left_closed(Gpus{}) == "not tried: its GPU is not known");
  Gpus no_status = one_gpu("/dev/dri/renderD128", "");
  no_status.amd.value()[0].runtime_status = Fact<std::string>();
  CHECK(left_closed(no_status).find("not probed") != std::string::npos);
}

TEST_CASE("something else under a device's name is not opened") {
  MemoryHost host;
  host.file("/dev/kfd", "");
  const Devices devices = probe_devices(host, Gpus{});
  CHECK(devices.kfd.character_device.is(false));
  CHECK_FALSE(devices.kfd.open.known());
  CHECK(host.opened.empty());
}

TEST_CASE("a node that can't be looked at is unknown, not absent") {
  MemoryHost host;
  host.failing("/dev/kfd", EACCES);
  const Devices devices = probe_devices(host, Gpus{});
  CHECK(devices.kfd.present.why_unknown().number == EACCES);
  CHECK(devices.kfd.open.why_unknown().number == EACCES);
}

TEST_CASE("the nodes of /dev/dri are taken by name and sorted by number") {
  MemoryHost host;
  for (const char* name : {"card10", "card2", "renderD129", "renderD1000", "controlD64", "cardX", "by-path/a"}) {
    host.device(std::string("/dev/dri/") + name, 0660, 0, 44);
  }
  std::string names;
  const Devices devices = probe_devices(host, Gpus{});
  for (const DeviceNode& node : *devices.dri) names += node.path.substr(9) + " ";
  CHECK(names == "card2 card10 renderD129 renderD1000 ");

  CHECK(probe_devices(MemoryHost(), Gpus{}).dri->empty());
  host.unreadable("/dev/dri", EACCES);
  CHECK(probe_devices(host, Gpus{}).dri.why_unknown().number == EACCES);
}

TEST_CASE("groups count by number in the process and by name in the file") {
  const Devices devices = probe_devices(desktop(), Gpus{});
  REQUIRE(devices.groups->size() == 2);
  const Group& video = devices.groups->at(0);
  const Group& render = devices.groups->at(1);
  CHECK(video.name == "video");
  CHECK(video.lists_user.is(true));
  CHECK(video.in_process.is(true));
  CHECK(render.gid == 992);
  CHECK(render.lists_user.is(true));
  CHECK(render.in_process.is(false));  // added since the session began
  CHECK(*devices.process_groups == std::vector<std::uint32_t>{4, 44, 1000});
  CHECK(devices.user.is("ada"));
}

TEST_CASE("a user is only in the list as a whole name, or by the primary group") {
  MemoryHost host = desktop();
  host.file("/etc/group", "video:x:44:adam\nrender:x:1000:");
  const Devices devices = probe_devices(host, Gpus{});
  CHECK(devices.groups->at(0).lists_user.is(false));
  CHECK(devices.groups->at(1).lists_user.is(true));
  CHECK(devices.groups->at(1).in_process.is(true));
}

TEST_CASE("a group that owns a node is listed whatever its name") {
  MemoryHost host = desktop();
  host.file("/etc/group", "gpu-users:x:992:ada\nother:x:7:\n");
  REQUIRE(probe_devices(host, Gpus{}).groups->size() == 1);
  CHECK(probe_devices(host, Gpus{}).groups->at(0).name == "gpu-users");
}

TEST_CASE("broken lines of /etc/group are passed over, an unreadable file makes the groups unknown") {
  MemoryHost host = desktop();
  host.file("/etc/group",
            "video\nvideo:x:99999999999:\n+:::\n+video:x:44:\nvideo:x:-1:\n:x:44:\nvideo:x:44:a:b\nrender:x:992");
  CHECK(probe_devices(host, Gpus{}).groups->empty());
  host.unreadable("/etc/group", EFBIG);
  CHECK(probe_devices(host, Gpus{}).groups.why_unknown().number == EFBIG);
}

TEST_CASE("a user without a name is shown by number") {
  MemoryHost host = desktop();
  host.identity.user.clear();
  host.file("/etc/group", "video:x:44:\n");
  const Devices devices = probe_devices(host, Gpus{});
  CHECK(devices.user.is("1000"));
  CHECK(devices.groups->at(0).lists_user.is(false));
}

}  // namespace sage
