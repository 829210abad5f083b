#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "probes/host/dxg.hpp"
#include "probes/host/dxg_protocol.hpp"

namespace {

namespace protocol = sage::dxg_protocol;

/// A driver whose every answer is the next bytes of the input.
class Driver {
 public:
  Driver(const std::uint8_t* data, std::size_t size) : next_(data), left_(size) {}

  int operator()(unsigned long request, void* argument) {
    std::int8_t status = -1;
    take(&status, 1);
    errno = EINVAL;
    if (status < 0) return status;
    if (request == protocol::enumerate_adapters) {
      auto* const list = static_cast<protocol::EnumerateAdapters*>(argument);
      take(reinterpret_cast<void*>(list->adapters), list->count * sizeof(protocol::AdapterInfo));
      take(&list->count, sizeof list->count);
    }
    if (request == protocol::query_adapter_info) {
      auto* const query = static_cast<protocol::QueryAdapterInfo*>(argument);
      take(reinterpret_cast<void*>(query->data), query->data_size);
    }
    return status;
  }

 private:
  void take(void* to, std::size_t size) {
    size = std::min(size, left_);
    std::memcpy(to, next_, size);
    next_ += size;
    left_ -= size;
  }

  const std::uint8_t* next_;
  std::size_t left_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Driver driver(data, size);
  const auto adapters =
      sage::ask_dxg_adapters([&](unsigned long request, void* argument) { return driver(request, argument); });
  if (adapters.ok() && adapters->size() > protocol::most_adapters) std::abort();
  return 0;
}
