#include "probes/devices.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probes/base/text.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

/// A directory service may have written all its groups into the file.
constexpr std::size_t group_file_cap = 4 * 1024 * 1024;

void set_unknown(DeviceNode& node, const Error& why) {
  node.character_device = Fact<bool>::unknown(why);
  for (Fact<std::uint32_t>* number : {&node.mode, &node.uid, &node.gid, &node.major, &node.minor}) {
    *number = Fact<std::uint32_t>::unknown(why);
  }
  node.access = node.open = Fact<Errno>::unknown(why);
}

/// Everything about a node except whether it opens.
DeviceNode look_at(const Host& host, const std::string& path) {
  DeviceNode node;
  node.path = path;
  const Result<FileStatus> status = host.status(path);
  if (!status) {
    const bool absent = is_absent(status.error());
    node.present = absent ? Fact<bool>(false) : Fact<bool>::unknown(status.error());
    set_unknown(node, absent ? Error{status.error().number, path + " does not exist"} : status.error());
    return node;
  }
  node.present = true;
  node.character_device = status->type == FileType::character_device;
  node.mode = status->mode;
  node.uid = status->uid;
  node.gid = status->gid;
  node.major = status->device_major;
  node.minor = status->device_minor;
  node.access = host.access_device(path);
  node.open = Fact<Errno>::unknown("not tried");
  return node;
}

/// Whatever else may lie under a device's name (a FIFO, a folder) is not opened.
void try_open(const Host& host, DeviceNode& node) {
  if (!node.present.is(true)) return;
  node.open = node.character_device.is(true) ? Fact<Errno>(host.open_device(node.path))
                                             : Fact<Errno>::unknown("not tried: " + node.path + " is no device");
}

/// Why the render node must not be opened; nullopt when its GPU is awake.
std::optional<std::string> reason_to_leave_closed(const std::string& path, const Gpus& gpus) {
  if (gpus.amd.known()) {
    for (const Gpu& gpu : *gpus.amd) {
      if (!gpu.render_node.is(path)) continue;
      if (gpu.runtime_status.is("active")) return std::nullopt;
      if (gpu.runtime_status.known()) return "not tried: the GPU sleeps (" + *gpu.runtime_status + ")";
      return "not tried: whether the GPU sleeps is not known (" + gpu.runtime_status.why_unknown().text + ")";
    }
  }
  return "not tried: its GPU is not known";
}

/// "card1" -> {"card", 1}; nullopt for by-path, controlD64 and the like.
std::optional<std::pair<std::string_view, std::uint64_t>> dri_name(std::string_view name) {
  for (const std::string_view prefix : {"card", "renderD"}) {
    if (!name.starts_with(prefix)) continue;
    if (const auto number = parse_number(name.substr(prefix.size()))) return std::pair(prefix, *number);
  }
  return std::nullopt;
}

Fact<std::vector<DeviceNode>> dri_nodes(const Host& host, const Gpus& gpus) {
  const Result<std::vector<std::string>> names = list_if_there(host, "/dev/dri");
  if (!names) return Fact<std::vector<DeviceNode>>::unknown(names.error());

  std::vector<std::string> wanted;
  for (const std::string& name : *names) {
    if (dri_name(name)) wanted.push_back(name);
  }
  std::sort(wanted.begin(), wanted.end(),
            [](const std::string& a, const std::string& b) { return *dri_name(a) < *dri_name(b); });

  std::vector<DeviceNode> nodes;
  for (const std::string& name : wanted) {
    DeviceNode node = look_at(host, "/dev/dri/" + name);
    if (name.starts_with("renderD") && node.present.is(true)) {
      if (const auto reason = reason_to_leave_closed(node.path, gpus)) {
        node.open = Fact<Errno>::unknown(*reason);
      } else {
        try_open(host, node);
      }
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::set<std::uint32_t> owning_groups(const Devices& devices) {
  std::vector<const DeviceNode*> nodes = {&devices.kfd, &devices.dxg};
  if (devices.dri.known()) {
    for (const DeviceNode& node : *devices.dri) nodes.push_back(&node);
  }
  std::set<std::uint32_t> gids;
  for (const DeviceNode* node : nodes) {
    if (node->gid.known()) gids.insert(*node->gid);
  }
  return gids;
}

/// A line of group(5): "name:password:gid:member,member". nullopt for anything else, NIS's "+" lines included.
struct GroupLine {
  std::string_view name;
  std::uint32_t gid = 0;
  std::vector<std::string_view> members;
};

std::optional<GroupLine> parse_group_line(std::string_view line) {
  const auto fields = split(trim(line), ':');
  if (fields.size() != 4 || fields[0].empty() || fields[0].starts_with('+') || fields[0].starts_with('-')) {
    return std::nullopt;
  }
  const auto gid = parse_number(fields[2]);
  if (!gid || *gid > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return GroupLine{fields[0], static_cast<std::uint32_t>(*gid), split(fields[3], ',')};
}

bool has(const std::vector<std::uint32_t>& gids, std::uint32_t gid) {
  return std::find(gids.begin(), gids.end(), gid) != gids.end();
}

/// A group that only a directory service knows is not in the file: it is then simply not listed here, and the process's
/// numeric groups decide.
Fact<std::vector<Group>> group_entries(const Host& host, const ProcessIdentity& process, const Devices& devices) {
  const Result<std::string> text = host.read_file("/etc/group", group_file_cap);
  if (!text) return Fact<std::vector<Group>>::unknown(text.error());

  const std::set<std::uint32_t> owning = owning_groups(devices);
  std::vector<Group> groups;
  for (const std::string_view line : lines(*text)) {
    const auto entry = parse_group_line(line);
    if (!entry) continue;
    const bool wanted = entry->name == "video" || entry->name == "render" || owning.count(entry->gid) != 0;
    if (!wanted) continue;
    const bool member = std::find(entry->members.begin(), entry->members.end(), process.user) != entry->members.end();
    Group group;
    group.name = std::string(entry->name);
    group.gid = entry->gid;
    group.lists_user = (member && !process.user.empty()) || process.gid == entry->gid;
    group.in_process = process.gid == entry->gid || has(process.groups, entry->gid);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

Devices probe_devices(const Host& host, const Gpus& gpus) {
  const ProcessIdentity process = host.process();
  Devices devices;
  devices.kfd = look_at(host, "/dev/kfd");
  devices.dxg = look_at(host, "/dev/dxg");
  try_open(host, devices.kfd);
  try_open(host, devices.dxg);
  devices.dri = dri_nodes(host, gpus);
  devices.user = process.user.empty() ? std::to_string(process.uid) : process.user;
  devices.uid = process.effective_uid;

  std::vector<std::uint32_t> gids = process.groups;
  gids.push_back(process.gid);
  std::sort(gids.begin(), gids.end());
  gids.erase(std::unique(gids.begin(), gids.end()), gids.end());
  devices.process_groups = std::move(gids);

  devices.groups = group_entries(host, process, devices);
  return devices;
}

}  // namespace sage
