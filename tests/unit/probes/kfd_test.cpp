#include "probes/kfd.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>

#include "probes/base/text.hpp"
#include "tests/support/kfd_tree.hpp"

namespace sage {
namespace {

const std::string nodes = "/sys/class/kfd/kfd/topology/nodes/";

KfdTopology topology_of(const Host& host) {
  auto topology = read_kfd_topology(host);
  REQUIRE_MESSAGE(topology.ok(), (topology.ok() ? "" : topology.error().text));
  return std::move(topology).value();
}

std::uint64_t number(const KfdNode& node, std::string_view key) {
  REQUIRE(node.properties.ok());
  const auto value = node.properties->number(key);
  REQUIRE_MESSAGE(value.ok(), (value.ok() ? "" : value.error().text));
  return *value;
}

/// A machine whose topology changes under the reader: each reading of generation_id gives the next of `generations`.
class MovingHost : public MemoryHost {
 public:
  std::vector<std::string> generations;
  mutable std::size_t asked = 0;

  Result<std::string> read_file(const std::string& path, std::size_t cap) const override {
    if (path.ends_with("/generation_id")) return generations.at(std::min(asked++, generations.size() - 1));
    return MemoryHost::read_file(path, cap);
  }
};

}  // namespace

TEST_CASE("the public KFD topologies are read to their last node") {
  struct Truth {
    const char* name;
    std::size_t gpus;
    std::uint64_t version;
    std::uint64_t device;
    std::uint64_t memory;  ///< of the first node; 0: the capture does not tell
  };
  constexpr Truth truths[] = {
      {"mi300x-cpx", 63, 90402, 0x74a1, 0},
      {"mi308x", 32, 90402, 0x74a2, 51539607552},
      {"mi210", 8, 90010, 0x740f, 0},
  };
  for (const Truth& truth : truths) {
    CAPTURE(truth.name);
    const auto host = load_kfd_tree(truth.name);
    if (!host) continue;
    const KfdTopology topology = topology_of(*host);
    CHECK_FALSE(topology.unclear);
    CHECK(topology.gpus.size() == truth.gpus);
    for (const KfdNode& node : topology.gpus) {
      CAPTURE(node.number);
      CHECK(number(node, "gfx_target_version") == truth.version);
      CHECK(number(node, "device_id") == truth.device);
      CHECK(node.memory_bytes.known() == (truth.memory != 0));
    }
    CHECK(topology.gpus.at(0).memory_bytes.value_or(0) == truth.memory);
  }
}

TEST_CASE("a topology of an old kernel lacks the target and has the memory size") {
  const auto host = load_kfd_tree("vega10");
  if (!host) return;
  const KfdTopology topology = topology_of(*host);
  REQUIRE(topology.gpus.size() == 2);
  CHECK(topology.gpus[0].number == 1);
  CHECK_FALSE(topology.gpus[0].properties->has("gfx_target_version"));
  CHECK(topology.gpus[0].memory_bytes.is(17163091968));
  CHECK(topology.gpus[0].readable.is(true));
}

TEST_CASE("nodes are in the order of their numbers, gaps and CPU nodes left out") {
  MemoryHost host;
  add_kfd_cpu(host, 0);
  add_kfd_node(host, 10, kfd_properties({{"location_id", "2560"}}), 7);
  add_kfd_node(host, 2, kfd_properties(), 8);
  host.file(nodes + "lost+found/properties", "simd_count 4\n");
  const KfdTopology topology = topology_of(host);
  REQUIRE(topology.gpus.size() == 2);
  CHECK(topology.gpus[0].number == 2);
  CHECK(topology.gpus[1].number == 10);
  CHECK(topology.gpus[0].memory_bytes.is(17095983104));
}

TEST_CASE("a node that a device cgroup hides is a GPU that can't be read") {
  MemoryHost host;
  add_kfd_cpu(host, 0);
  add_kfd_node(host, 1, kfd_properties(), 8);
  SUBCASE("all of it") {
    host.unreadable(nodes + "1/gpu_id", EPERM).unreadable(nodes + "1/properties", EPERM);
    const KfdTopology topology = topology_of(host);
    REQUIRE(topology.gpus.size() == 1);
    CHECK(topology.gpus[0].readable.is(false));
    CHECK_FALSE(topology.gpus[0].properties.ok());
  }
  SUBCASE("its id alone") {
    host.unreadable(nodes + "1/gpu_id", EPERM);
    const KfdTopology topology = topology_of(host);
    REQUIRE(topology.gpus.size() == 1);
    CHECK(topology.gpus[0].readable.is(false));
    CHECK(topology.gpus[0].properties.ok());
  }
}

TEST_CASE("a node that does not tell what it is makes the topology unclear") {
  MemoryHost host;
  add_kfd_cpu(host, 0);
  add_kfd_node(host, 1, "simd_count many\n", 0);
  host.file(nodes + "1/gpu_id", "\n");
  const KfdTopology topology = topology_of(host);
  CHECK(topology.gpus.empty());
  REQUIRE(topology.unclear);
  CHECK(contains(topology.unclear->text, "nodes/1"));
}

TEST_CASE("numbers out of range and missing keys are errors that name file and key") {
  const KfdProperties properties("simd_count 99999999999999999999\nwave_front_size -1\nlds 64 kb\ndomain 7\n", "FILE");
  CHECK(properties.number("simd_count").error().text ==
        "FILE: simd_count is '99999999999999999999', not a number up to 18446744073709551615");
  CHECK_FALSE(properties.number("wave_front_size").ok());
  CHECK(properties.number("lds").error().text == "FILE: has no lds");
  CHECK(properties.number("domain").value() == 7);
  CHECK_FALSE(properties.number("domain", 6).ok());
}

TEST_CASE("a memory bank that is absurd or unreadable leaves the size unknown") {
  MemoryHost host;
  add_kfd_node(host, 0, kfd_properties(), 8);
  SUBCASE("too large") {
    host.file(nodes + "0/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 18446744073709551615\n");
  }
  SUBCASE("unreadable") {
    host.unreadable(nodes + "0/mem_banks/0/properties", EIO);
  }
  SUBCASE("without a type") {
    host.file(nodes + "0/mem_banks/0/properties", "size_in_bytes 5\n");
  }
  CHECK_FALSE(topology_of(host).gpus.at(0).memory_bytes.known());
}

TEST_CASE("no KFD is ENOENT, and a topology of thousands of nodes is refused") {
  MemoryHost host;
  CHECK(read_kfd_topology(host).error().number == ENOENT);
  for (int i = 0; i < 1025; ++i) host.folder(nodes + std::to_string(i));
  CHECK(read_kfd_topology(host).error().number == EFBIG);
}

TEST_CASE("a topology that changes while it is read is read again, but not for ever") {
  MovingHost host;
  add_kfd_node(host, 0, kfd_properties(), 8);
  const auto times_read = [&] { return std::count(host.read.begin(), host.read.end(), nodes + "0/properties"); };
  SUBCASE("settled") {
    host.generations = {"2\n"};
    CHECK(topology_of(host).gpus.size() == 1);
    CHECK(times_read() == 1);
  }
  SUBCASE("moved once") {
    host.generations = {"2\n", "3\n", "3\n"};
    CHECK(topology_of(host).gpus.size() == 1);
    CHECK(times_read() == 2);
  }
  SUBCASE("never settles") {
    host.generations = {"1", "2", "3", "4", "5", "6", "7", "8"};
    CHECK(topology_of(host).gpus.size() == 1);
    CHECK(times_read() == 3);
  }
}

}  // namespace sage
