// The KFD topology is one sysfs folder a node, CPUs and GPUs alike. Four things make it harder than it looks:
//  - the kernel answers EPERM for everything but the folder itself when a device cgroup hides a GPU, so that a node
//  that
//    can't be read is a GPU (CPU nodes are never hidden);
//  - old kernels lack keys (gfx_target_version, domain, num_xcc), and local_mem_size is 0 on new ones, where the memory
//    banks hold the size;
//  - node numbers may have gaps, and a node that holds CPU cores may be an old APU's GPU as well;
//  - hotplug renumbers nodes between two reads; generation_id tells.

#include "probes/kfd.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr const char* topology_folder = "/sys/class/kfd/kfd/topology";
constexpr std::size_t most_nodes = 1024;
constexpr std::size_t most_memory_banks = 64;
constexpr int most_attempts = 3;
constexpr std::uint64_t largest_memory = std::uint64_t{1} << 50;  // 1 PiB

/// HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC and _PRIVATE of hsakmttypes.h; 0 is system memory.
constexpr std::uint64_t video_heap_types[] = {1, 2};

/// The names that are numbers, in numerical order.
std::vector<std::uint32_t> numbered(const std::vector<std::string>& names) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& name : names) {
    const auto number = parse_number(name);
    if (number && *number <= UINT32_MAX) numbers.push_back(static_cast<std::uint32_t>(*number));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Result<KfdProperties> read_properties(const Host& host, const std::string& file) {
  const auto text = host.read_file(file);
  if (!text) return text.error();
  return KfdProperties(*text, file);
}

Fact<std::uint64_t> read_memory(const Host& host, const std::string& node, const KfdProperties& properties) {
  if (const auto size = properties.number("local_mem_size", largest_memory); size && *size > 0) return *size;
  const std::string folder = node + "/mem_banks";
  const auto names = host.list_folder(folder);
  if (!names) return Fact<std::uint64_t>::unknown(names.error());
  const std::vector<std::uint32_t> banks = numbered(*names);
  if (banks.size() > most_memory_banks) return Fact<std::uint64_t>::unknown(folder + ": more than 64 memory banks");
  std::uint64_t total = 0;
  for (const std::uint32_t bank : banks) {
    const auto bank_properties = read_properties(host, folder + "/" + std::to_string(bank) + "/properties");
    if (!bank_properties) return Fact<std::uint64_t>::unknown(bank_properties.error());
    const auto heap = bank_properties->number("heap_type");
    if (!heap) return Fact<std::uint64_t>::unknown(heap.error());
    if (std::find(std::begin(video_heap_types), std::end(video_heap_types), *heap) == std::end(video_heap_types)) {
      continue;
    }
    const auto size = bank_properties->number("size_in_bytes", largest_memory);
    if (!size) return Fact<std::uint64_t>::unknown(size.error());
    total += *size;
  }
  return total;
}

enum class NodeKind { cpu, gpu, unclear };

NodeKind kind_of(const Result<KfdProperties>& properties, const Result<std::string>& gpu_id) {
  if (properties.ok()) {
    if (const auto simds = properties->number("simd_count")) return *simds > 0 ? NodeKind::gpu : NodeKind::cpu;
  }
  if (gpu_id.ok()) {
    if (const auto id = parse_number(trim(*gpu_id))) return *id > 0 ? NodeKind::gpu : NodeKind::cpu;
    return NodeKind::unclear;
  }
  const bool hidden = gpu_id.error().number == EPERM || (!properties.ok() && properties.error().number == EPERM);
  return hidden ? NodeKind::gpu : NodeKind::unclear;
}

Fact<bool> readable(const Result<std::string>& gpu_id) {
  if (gpu_id.ok()) return true;
  if (gpu_id.error().number == EPERM) return false;
  return Fact<bool>::unknown(gpu_id.error());
}

Result<KfdTopology> read_once(const Host& host) {
  const std::string folder = std::string(topology_folder) + "/nodes";
  const auto names = host.list_folder(folder);
  if (!names) return names.error();
  const std::vector<std::uint32_t> numbers = numbered(*names);
  if (numbers.size() > most_nodes) return Error{EFBIG, folder + ": more than 1024 nodes"};

  KfdTopology topology;
  for (const std::uint32_t number : numbers) {
    const std::string node = folder + "/" + std::to_string(number);
    auto properties = read_properties(host, node + "/properties");
    const auto gpu_id = host.read_file(node + "/gpu_id");
    const NodeKind kind = kind_of(properties, gpu_id);
    if (kind == NodeKind::unclear) {
      topology.unclear =
          properties.ok() ? Error{0, node + ": neither simd_count nor gpu_id tell what it is"} : properties.error();
    }
    if (kind != NodeKind::gpu) continue;
    auto memory =
        properties.ok() ? read_memory(host, node, *properties) : Fact<std::uint64_t>::unknown(properties.error());
    topology.gpus.push_back({number, std::move(properties), readable(gpu_id), std::move(memory)});
  }
  return topology;
}

}  // namespace

KfdProperties::KfdProperties(std::string_view text, std::string file) : file_(std::move(file)) {
  for (const std::string_view line : lines(text)) {
    const std::vector<std::string_view> parts = words(line);
    if (parts.size() == 2) values_.emplace(parts[0], parts[1]);
  }
}

bool KfdProperties::has(std::string_view key) const {
  return values_.find(key) != values_.end();
}

Result<std::uint64_t> KfdProperties::number(std::string_view key, std::uint64_t largest) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return Error{0, file_ + ": has no " + std::string(key)};
  const auto value = parse_number(found->second);
  if (!value || *value > largest) {
    return Error{0, file_ + ": " + std::string(key) + " is '" + found->second.substr(0, 32) + "', not a number up to " +
                        std::to_string(largest)};
  }
  return *value;
}

Result<KfdTopology> read_kfd_topology(const Host& host) {
  const std::string generation_file = std::string(topology_folder) + "/generation_id";
  auto generation = host.read_file(generation_file);
  for (int attempt = 1;; ++attempt) {
    auto topology = read_once(host);
    auto generation_after = host.read_file(generation_file);
    const bool changed = generation.ok() && generation_after.ok() && *generation != *generation_after;
    if (!changed || attempt == most_attempts) return topology;
    generation = std::move(generation_after);
  }
}

}  // namespace sage
