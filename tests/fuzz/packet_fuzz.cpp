#include <cstddef>
#include <cstdint>

#include "probes/host/packet.hpp"

namespace {

template <class T>
void read_as(std::string_view bytes) {
  sage::Result<T> answer = sage::Error{};
  (void)sage::unpack(bytes, answer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_as<sage::ElfFacts>(bytes);
  read_as<sage::FileStatus>(bytes);
  read_as<std::vector<sage::DxgAdapterReply>>(bytes);
  read_as<std::vector<sage::DrmDeviceReply>>(bytes);
  read_as<std::vector<std::string>>(bytes);
  return 0;
}
