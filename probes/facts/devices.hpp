#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/base/errno_name.hpp"
#include "probes/base/fact.hpp"

namespace sage {

/// One node below /dev, and what this process may do with it.
struct DeviceNode {
  std::string path;
  Fact<bool> present;
  Fact<bool> character_device;
  Fact<std::uint32_t> mode;  ///< permission bits, 0660 and the like
  Fact<std::uint32_t> uid;
  Fact<std::uint32_t> gid;
  Fact<std::uint32_t> major;
  Fact<std::uint32_t> minor;
  Fact<Errno> access;  ///< faccessat(2) for reading and writing: permissions only, never wakes the device
  Fact<Errno> open;    ///< open(2) for reading and writing; unknown when it was not tried (a sleeping GPU is not woken)

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("path", &DeviceNode::path);
    visit("present", &DeviceNode::present);
    visit("character_device", &DeviceNode::character_device);
    visit("mode", &DeviceNode::mode);
    visit("uid", &DeviceNode::uid);
    visit("gid", &DeviceNode::gid);
    visit("major", &DeviceNode::major);
    visit("minor", &DeviceNode::minor);
    visit("access", &DeviceNode::access);
    visit("open", &DeviceNode::open);
  }
};

/// One entry of /etc/group that matters here: named video or render, or owning one of the device nodes.
struct Group {
  std::string name;
  std::uint32_t gid = 0;
  Fact<bool> lists_user;   ///< the user stands in the entry (or it is the user's primary group)
  Fact<bool> in_process;   ///< this process carries the gid now

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("name", &Group::name);
    visit("gid", &Group::gid);
    visit("lists_user", &Group::lists_user);
    visit("in_process", &Group::in_process);
  }
};

struct Devices {
  DeviceNode kfd;                        ///< /dev/kfd
  DeviceNode dxg;                        ///< /dev/dxg
  Fact<std::vector<DeviceNode>> dri;     ///< /dev/dri/card* and renderD*; empty when the folder is absent
  Fact<std::string> user;                ///< name of the real user, "1000" when it has none
  Fact<std::uint32_t> uid;               ///< effective
  Fact<std::vector<std::uint32_t>> process_groups;  ///< effective gid and supplementary groups, sorted
  Fact<std::vector<Group>> groups;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("kfd", &Devices::kfd);
    visit("dxg", &Devices::dxg);
    visit("dri", &Devices::dri);
    visit("user", &Devices::user);
    visit("uid", &Devices::uid);
    visit("process_groups", &Devices::process_groups);
    visit("groups", &Devices::groups);
  }
};

}  // namespace sage
