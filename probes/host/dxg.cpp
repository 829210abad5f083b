#include "probes/host/dxg.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "probes/base/errno_name.hpp"
#include "probes/host/descriptor.hpp"
#include "probes/host/dxg_protocol.hpp"

namespace sage {
namespace {

namespace protocol = dxg_protocol;

constexpr const char* path = "/dev/dxg";

std::uint64_t address_of(void* data) {
  return reinterpret_cast<std::uintptr_t>(data);
}

int retrying(const DxgIoctl& ioctl, unsigned long request, void* argument) {
  for (int i = 0; i < 100; ++i) {
    const int status = ioctl(request, argument);
    if (status >= 0 || errno != EINTR) return status;
  }
  return -1;
}

template <class Answer>
std::optional<Answer> ask(const DxgIoctl& ioctl, std::uint32_t adapter) {
  Answer answer{};
  protocol::QueryAdapterInfo query{adapter, Answer::type, address_of(&answer), sizeof answer, 0};
  if (retrying(ioctl, protocol::query_adapter_info, &query) < 0) return std::nullopt;
  return answer;
}

void append_utf8(std::string& text, std::uint32_t point) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80U | ((point >> shift) & 0x3fU)); };
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xc0U | (point >> 6));
    tail(0);
  } else if (point < 0x10000) {
    text += static_cast<char>(0xe0U | (point >> 12));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0U | (point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

/// Up to the terminator or the end of the array; lone surrogates and control characters become U+FFFD.
std::string to_utf8(const std::array<char16_t, protocol::RegistryInfo::text_units>& units) {
  constexpr std::uint32_t replacement = 0xfffd;
  std::string text;
  for (std::size_t i = 0; i < units.size() && units[i] != 0; ++i) {
    std::uint32_t point = units[i];
    const bool high = point >= 0xd800 && point < 0xdc00;
    const bool paired = high && i + 1 < units.size() && units[i + 1] >= 0xdc00 && units[i + 1] < 0xe000;
    if (paired) {
      point = 0x10000 + ((point - 0xd800) << 10) + (units[++i] - 0xdc00U);
    } else if ((point >= 0xd800 && point < 0xe000) || point < 0x20 || (point >= 0x7f && point < 0xa0)) {
      point = replacement;
    }
    append_utf8(text, point);
  }
  return text;
}

std::string version_text(std::uint64_t parts) {
  std::string text;
  for (const int shift : {48, 32, 16, 0}) {
    if (!text.empty()) text += '.';
    text += std::to_string((parts >> shift) & 0xffffU);
  }
  return text;
}

DxgAdapterReply ask_adapter(const DxgIoctl& ioctl, std::uint32_t adapter) {
  DxgAdapterReply reply;
  if (const auto ids = ask<protocol::DeviceIds>(ioctl, adapter)) {
    reply.vendor_id = ids->vendor;
    reply.device_id = ids->device;
    reply.revision = ids->revision;
  }
  if (const auto texts = ask<protocol::RegistryInfo>(ioctl, adapter)) reply.name = to_utf8(texts->adapter);
  if (const auto sizes = ask<protocol::SegmentSizes>(ioctl, adapter)) {
    reply.dedicated_bytes = sizes->dedicated_video;
    reply.shared_bytes = sizes->shared_system;
  }
  if (const auto driver = ask<protocol::UserModeDriverVersion>(ioctl, adapter)) {
    reply.driver_version = version_text(driver->parts);
  }
  if (const auto wddm = ask<protocol::WddmVersion>(ioctl, adapter)) reply.wddm_version = wddm->version;
  if (const auto type = ask<protocol::AdapterType>(ioctl, adapter)) reply.type_bits = type->bits;
  return reply;
}

}  // namespace

Result<std::vector<DxgAdapterReply>> ask_dxg_adapters(const DxgIoctl& ioctl) {
  std::array<protocol::AdapterInfo, protocol::most_adapters> adapters{};
  protocol::EnumerateAdapters enumeration{protocol::most_adapters, 0, address_of(adapters.data())};
  if (retrying(ioctl, protocol::enumerate_adapters, &enumeration) < 0) {
    return system_error(errno, std::string(path) + ": enumerating the adapters");
  }
  if (enumeration.count > protocol::most_adapters) {
    return Error{EPROTO, std::string(path) + ": claims " + std::to_string(enumeration.count) + " adapters"};
  }
  std::vector<DxgAdapterReply> replies;
  for (std::uint32_t i = 0; i < enumeration.count; ++i) {
    if (adapters[i].handle == 0) continue;
    replies.push_back(ask_adapter(ioctl, adapters[i].handle));
    protocol::CloseAdapter close{adapters[i].handle};
    retrying(ioctl, protocol::close_adapter, &close);
  }
  return replies;
}

Result<std::vector<DxgAdapterReply>> read_dxg_adapters() {
  const Descriptor device(open(path, O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (!device.valid()) return system_error(errno, path);
  return ask_dxg_adapters(
      [&](unsigned long request, void* argument) { return ioctl(device.number(), request, argument); });
}

}  // namespace sage
