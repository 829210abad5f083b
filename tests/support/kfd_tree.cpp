#include "tests/support/kfd_tree.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace sage {
namespace {

namespace fs = std::filesystem;

const std::string topology = "/sys/class/kfd/kfd/topology";

}  // namespace

std::optional<MemoryHost> load_kfd_tree(const std::string& name) {
  const fs::path folder = fs::path(SAGE_TEST_SOURCE_DIR).parent_path() / "shared" / "data" / "kfd" / name;
  if (!fs::is_directory(folder)) {
    MESSAGE("not run: ", folder.string(), " is not there");
    return std::nullopt;
  }
  MemoryHost host;
  host.folder("/sys/bus");
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(stream), {});
    host.file(topology + "/" + fs::relative(entry.path(), folder).string(), std::move(text));
  }
  return host;
}

std::string kfd_properties(const std::map<std::string, std::string>& changes) {
  std::map<std::string, std::string> values = {
      {"cpu_cores_count", "0"},
      {"simd_count", "128"},
      {"simd_per_cu", "2"},
      {"array_count", "8"},
      {"wave_front_size", "32"},
      {"lds_size_in_kb", "64"},
      {"gfx_target_version", "120001"},
      {"vendor_id", "4098"},
      {"device_id", "30032"},
      {"location_id", "768"},
      {"domain", "0"},
      {"drm_render_minor", "128"},
      {"max_engine_clk_fcompute", "2970"},
      {"local_mem_size", "0"},
      {"capability", "671588992"},
      {"unique_id", "81985529216486895"},
      {"num_xcc", "1"},
  };
  for (const auto& [key, value] : changes) values[key] = value;
  std::string text;
  for (const auto& [key, value] : values) {
    if (!value.empty()) text += key + " " + value + "\n";
  }
  return text;
}

void add_kfd_node(MemoryHost& host, int number, const std::string& properties, std::uint32_t gpu_id) {
  const std::string node = topology + "/nodes/" + std::to_string(number);
  host.file(node + "/properties", properties);
  host.file(node + "/gpu_id", std::to_string(gpu_id) + "\n");
  host.file(node + "/mem_banks/0/properties",
            gpu_id == 0 ? "heap_type 0\nsize_in_bytes 34359738368\n" : "heap_type 1\nsize_in_bytes 17095983104\n");
}

void add_kfd_cpu(MemoryHost& host, int number) {
  add_kfd_node(host, number, "cpu_cores_count 16\nsimd_count 0\n", 0);
}

}  // namespace sage
