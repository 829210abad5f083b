#pragma once

#include <sys/ioctl.h>

#include <array>
#include <cstdint>

// The part of Microsoft's dxgkrnl interface that is used here. Layouts and numbers: microsoft/WSL2-Linux-Kernel,
// include/uapi/misc/d3dkmthk.h; contents of the queries: Windows WDK d3dkmthk.h (facts/wsl.md W8a).

namespace sage::dxg_protocol {

inline constexpr std::uint32_t most_adapters = 64;

struct AdapterInfo {
  std::uint32_t handle = 0;
  std::uint32_t luid_low = 0;
  std::uint32_t luid_high = 0;
  std::uint32_t source_count = 0;
  std::uint32_t present_move_regions_preferred = 0;
};
static_assert(sizeof(AdapterInfo) == 20);

struct EnumerateAdapters {
  std::uint32_t count = 0;  ///< in: room in `adapters`; out: how many there are
  std::uint32_t reserved = 0;
  std::uint64_t adapters = 0;  ///< address of AdapterInfo[]
};
static_assert(sizeof(EnumerateAdapters) == 16);

struct QueryAdapterInfo {
  std::uint32_t handle = 0;
  std::uint32_t type = 0;
  std::uint64_t data = 0;  ///< address
  std::uint32_t data_size = 0;
  std::uint32_t padding = 0;
};
static_assert(sizeof(QueryAdapterInfo) == 24);

struct CloseAdapter {
  std::uint32_t handle = 0;
};
static_assert(sizeof(CloseAdapter) == 4);

inline constexpr unsigned long query_adapter_info = _IOWR(0x47, 0x09, QueryAdapterInfo);
inline constexpr unsigned long enumerate_adapters = _IOWR(0x47, 0x14, EnumerateAdapters);
inline constexpr unsigned long close_adapter = _IOWR(0x47, 0x15, CloseAdapter);

struct SegmentSizes {
  static constexpr std::uint32_t type = 3;
  std::uint64_t dedicated_video = 0;
  std::uint64_t dedicated_system = 0;
  std::uint64_t shared_system = 0;
};
static_assert(sizeof(SegmentSizes) == 24);

struct RegistryInfo {
  static constexpr std::uint32_t type = 8;
  static constexpr std::size_t text_units = 260;
  std::array<char16_t, text_units> adapter{};
  std::array<char16_t, text_units> bios{};
  std::array<char16_t, text_units> dac{};
  std::array<char16_t, text_units> chip{};
};
static_assert(sizeof(RegistryInfo) == 2080);

struct WddmVersion {
  static constexpr std::uint32_t type = 13;
  std::uint32_t version = 0;  ///< 3100 = WDDM 3.1
};
static_assert(sizeof(WddmVersion) == 4);

struct AdapterType {
  static constexpr std::uint32_t type = 15;
  std::uint32_t bits = 0;
};
static_assert(sizeof(AdapterType) == 4);

struct UserModeDriverVersion {
  static constexpr std::uint32_t type = 18;
  std::uint64_t parts = 0;  ///< four of 16 bits, the first one highest
};
static_assert(sizeof(UserModeDriverVersion) == 8);

struct DeviceIds {
  static constexpr std::uint32_t type = 31;
  std::uint32_t physical_index = 0;  ///< in
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  std::uint32_t subvendor = 0;
  std::uint32_t subsystem = 0;
  std::uint32_t revision = 0;
  std::uint32_t bus_type = 0;
};
static_assert(sizeof(DeviceIds) == 28);

}  // namespace sage::dxg_protocol
