#include "probes/host/dxg.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <set>

#include "probes/host/dxg_protocol.hpp"

namespace sage {
namespace {

namespace protocol = dxg_protocol;

/// A driver that answers as the tests want, and keeps book of open handles.
struct FakeDriver {
  std::uint32_t claimed = 1;  ///< count after the enumeration
  std::vector<std::uint32_t> handles = {0x40000001};
  std::set<std::uint32_t> refused_types;  ///< queries that fail
  std::function<void(std::uint32_t type, void* data, std::size_t size)> fill;
  int enumeration_error = 0;
  int interrupted = 0;  ///< how many calls fail with EINTR first
  std::multiset<std::uint32_t> closed;

  int operator()(unsigned long request, void* argument) {
    if (interrupted > 0) {
      --interrupted;
      return fail(EINTR);
    }
    if (request == protocol::enumerate_adapters) return enumerate(*static_cast<protocol::EnumerateAdapters*>(argument));
    if (request == protocol::query_adapter_info) return query(*static_cast<protocol::QueryAdapterInfo*>(argument));
    if (request == protocol::close_adapter) {
      closed.insert(static_cast<protocol::CloseAdapter*>(argument)->handle);
      return 0;
    }
    return fail(ENOTTY);
  }

 private:
  static int fail(int number) {
    errno = number;
    return -1;
  }

  int enumerate(protocol::EnumerateAdapters& list) {
    if (enumeration_error != 0) return fail(enumeration_error);
    auto* const adapters = reinterpret_cast<protocol::AdapterInfo*>(list.adapters);
    for (std::size_t i = 0; i < std::min<std::size_t>(handles.size(), list.count); ++i) adapters[i].handle = handles[i];
    list.count = claimed;
    return 0;
  }

  int query(const protocol::QueryAdapterInfo& asked) {
    if (refused_types.contains(asked.type)) return fail(EINVAL);
    fill(asked.type, reinterpret_cast<void*>(asked.data), asked.data_size);
    return 0x00000102;  // a positive NTSTATUS is a success
  }
};

void fill_radeon(std::uint32_t type, void* data, std::size_t size) {
  const auto put = [&](const auto& value) {
    REQUIRE(size == sizeof value);
    std::memcpy(data, &value, sizeof value);
  };
  if (type == protocol::DeviceIds::type) put(protocol::DeviceIds{0, 0x1002, 0x7550, 0x148c, 0x2435, 0xc0, 3});
  if (type == protocol::RegistryInfo::type) {
    protocol::RegistryInfo info;
    const std::u16string_view name = u"AMD Radeon™ RX 9070 XT";
    name.copy(info.adapter.data(), name.size());
    put(info);
  }
  if (type == protocol::SegmentSizes::type) put(protocol::SegmentSizes{17'163'091'968, 1, 8'589'934'592});
  if (type == protocol::UserModeDriverVersion::type) put(protocol::UserModeDriverVersion{0x0020'0000'7941'03ec});
  if (type == protocol::WddmVersion::type) put(protocol::WddmVersion{3200});
  if (type == protocol::AdapterType::type) put(protocol::AdapterType{0x91});
}

Result<std::vector<DxgAdapterReply>> ask(FakeDriver& driver) {
  if (!driver.fill) driver.fill = fill_radeon;
  return ask_dxg_adapters([&](unsigned long request, void* argument) { return driver(request, argument); });
}

}  // namespace

TEST_CASE("an adapter tells ids, name, memory, driver and type") {
  FakeDriver driver;
  const auto adapters = ask(driver);
  REQUIRE(adapters.ok());
  REQUIRE(adapters->size() == 1);
  const DxgAdapterReply& radeon = adapters->front();
  CHECK(radeon.vendor_id == 0x1002u);
  CHECK(radeon.device_id == 0x7550u);
  CHECK(radeon.revision == 0xc0u);
  CHECK(radeon.name == "AMD Radeon™ RX 9070 XT");
  CHECK(radeon.dedicated_bytes == 17'163'091'968u);
  CHECK(radeon.shared_bytes == 8'589'934'592u);
  CHECK(radeon.driver_version == "32.0.31041.1004");
  CHECK(radeon.wddm_version == 3200u);
  CHECK(radeon.type_bits == 0x91u);
  CHECK(driver.closed == std::multiset<std::uint32_t>{0x40000001});
}

TEST_CASE("a question without answer leaves only its own fields empty") {
  for (const std::uint32_t type : {3u, 8u, 13u, 15u, 18u, 31u}) {
    FakeDriver driver;
    driver.refused_types = {type};
    const auto adapters = ask(driver);
    REQUIRE(adapters.ok());
    const DxgAdapterReply& reply = adapters->at(0);
    CHECK(reply.dedicated_bytes.has_value() == (type != 3));
    CHECK(reply.shared_bytes.has_value() == (type != 3));
    CHECK(reply.name.has_value() == (type != 8));
    CHECK(reply.wddm_version.has_value() == (type != 13));
    CHECK(reply.type_bits.has_value() == (type != 15));
    CHECK(reply.driver_version.has_value() == (type != 18));
    CHECK(reply.vendor_id.has_value() == (type != 31));
    CHECK(driver.closed.size() == 1);
  }
}

TEST_CASE("every adapter is asked and closed, one without a handle is skipped") {
  FakeDriver driver;
  driver.handles = {1, 0, 3};
  driver.claimed = 3;
  CHECK(ask(driver)->size() == 2);
  CHECK(driver.closed == std::multiset<std::uint32_t>{1, 3});

  FakeDriver full;
  full.handles.assign(64, 7);
  full.claimed = 64;
  CHECK(ask(full)->size() == 64);

  FakeDriver empty;
  empty.claimed = 0;
  CHECK(ask(empty)->empty());
}

TEST_CASE("an impossible number of adapters is an error") {
  for (const std::uint32_t count : {65u, 0x7fffffffu, 0xffffffffu}) {
    FakeDriver driver;
    driver.claimed = count;
    CHECK(ask(driver).error().number == EPROTO);
  }
}

TEST_CASE("a driver that claims more adapters than it filled in gives only those") {
  FakeDriver driver;
  driver.claimed = 64;
  CHECK(ask(driver)->size() == 1);
}

TEST_CASE("a failed enumeration is an error, an interrupted call is repeated") {
  FakeDriver failing;
  failing.enumeration_error = ENODEV;
  CHECK(ask(failing).error().number == ENODEV);
  FakeDriver interrupted;
  interrupted.interrupted = 3;
  CHECK(ask(interrupted)->size() == 1);
  FakeDriver never;
  never.interrupted = 1'000'000;
  CHECK(ask(never).error().number == EINTR);
}

TEST_CASE("a name without end or sense becomes valid UTF-8") {
  const auto name_of = [](char16_t unit, std::size_t count) {
    FakeDriver driver;
    driver.fill = [=](std::uint32_t type, void* data, std::size_t) {
      if (type != protocol::RegistryInfo::type) return;
      protocol::RegistryInfo info;
      info.bios.fill(u'B');
      std::fill_n(info.adapter.begin(), count, unit);
      std::memcpy(data, &info, sizeof info);
    };
    return *ask(driver)->at(0).name;
  };
  CHECK(name_of(u'A', 260) == std::string(260, 'A'));
  CHECK(name_of(u'A', 0).empty());
  CHECK(name_of(0xd800, 1) == "\xef\xbf\xbd");
  CHECK(name_of(0xdc00, 2) == "\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(name_of(0xd83d, 260).size() == 260 * 3);
  CHECK(name_of(0x1b, 1) == "\xef\xbf\xbd");
  CHECK(name_of(u'é', 1) == "é");
}

TEST_CASE("a character beyond the basic plane is put together from its pair") {
  FakeDriver driver;
  driver.fill = [](std::uint32_t type, void* data, std::size_t) {
    if (type != protocol::RegistryInfo::type) return;
    protocol::RegistryInfo info;
    info.adapter[0] = 0xd83d;
    info.adapter[1] = 0xde00;
    std::memcpy(data, &info, sizeof info);
  };
  CHECK(*ask(driver)->at(0).name == "\xf0\x9f\x98\x80");
}

}  // namespace sage
