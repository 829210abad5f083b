#include "emulated_targets.hpp"

#include <array>

#include "../runtime/family.hpp"
#include "emulated.hpp"

namespace sage::trial {

void emulated_gfx12(Device& device);
void emulated_gfx11(Device& device);
void emulated_gfx90a(Device& device);
void emulated_gfx942(Device& device);
void emulated_nvidia(Device& device);
void emulated_sm90(Device& device);

namespace {

constexpr std::size_t amd_shared_limit = 65536;
constexpr std::size_t nvidia_shared_limit = std::size_t{99} * 1024;  // of sm_86 and sm_89, the smallest that has one
constexpr std::size_t sm90_shared_limit = std::size_t{227} * 1024;

std::size_t shared_limit(const device::Family family) {
  if (family == device::Family::sm90) return sm90_shared_limit;
  return device::is_nvidia(family) ? nvidia_shared_limit : amd_shared_limit;
}

struct Row {
  const char* name;
  device::Family family;
  bool fp8;
  reference::ValueFormat fp8_format;
  void (*add_kernels)(Device&);
};

constexpr auto rows = std::to_array<Row>({
    {"gfx12", device::Family::gfx12, true, reference::ValueFormat::fp8_ocp, &emulated_gfx12},
    {"gfx11", device::Family::gfx11, false, reference::ValueFormat::fp8_ocp, &emulated_gfx11},
    {"gfx90a", device::Family::gfx9, false, reference::ValueFormat::fp8_ocp, &emulated_gfx90a},
    {"gfx942", device::Family::gfx9, true, reference::ValueFormat::fp8_fnuz, &emulated_gfx942},
    {"nvidia", device::Family::nvidia, true, reference::ValueFormat::fp8_ocp, &emulated_nvidia},
    {"sm90", device::Family::sm90, true, reference::ValueFormat::fp8_ocp, &emulated_sm90},
});

Device make(const Row& row) {
  Device device;
  device.name = row.name;
  device.family = row.family;
  device.has_fp8 = row.fp8;
  device.fp8 = row.fp8_format;
  device.shared_limit = shared_limit(row.family);
  device.run = &run_emulated;
  row.add_kernels(device);
  return device;
}

}  // namespace

const Device* emulated_target_for(std::string_view target) {
  static const std::array<Device, rows.size()> targets = {make(rows[0]), make(rows[1]), make(rows[2]), make(rows[3]),
                                                          make(rows[4]), make(rows[5])};
  const auto support = runtime::family_of_target(target);
  if (!support) return nullptr;
  for (const Device& device : targets) {
    // sm_80 has the NVIDIA kernels without fp8; the emulated target has both.
    const bool same_values = device.has_fp8 == support->fp8 || support->family == device::Family::nvidia;
    if (device.family == support->family && same_values) return &device;
  }
  return nullptr;
}

}  // namespace sage::trial
