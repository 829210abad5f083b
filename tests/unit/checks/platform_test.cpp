#include <doctest/doctest.h>

#include "probes/base/text.hpp"
#include "tests/support/sample_facts.hpp"

namespace sage {
namespace {

using namespace std::string_literals;

using test::commands_of;
using test::finding_of;
using test::healthy_facts;

constexpr std::uint64_t gib = 1024ULL * 1024 * 1024;

}  // namespace

TEST_CASE("a healthy machine passes every platform check") {
  for (const char* id : {"platform.sudo", "platform.libc", "platform.build-memory", "platform.shm"}) {
    CAPTURE(id);
    CHECK(finding_of(id, healthy_facts()).status == Status::pass);
  }
}

TEST_CASE("which WSL it is matters only on WSL") {
  Facts facts = healthy_facts();
  CHECK(finding_of("platform.wsl1", facts).status == Status::skip);
  facts.platform.kind = PlatformKind::wsl2;
  CHECK(finding_of("platform.wsl1", facts).status == Status::pass);
}

TEST_CASE("musl on WSL is answered with another distribution, not with device flags that fail there") {
  Facts facts = healthy_facts();
  facts.platform.libc_name = "musl"s;
  CHECK(contains(commands_of(finding_of("platform.libc", facts)), "--device=/dev/kfd"));
  facts.platform.kind = PlatformKind::wsl2;
  CHECK(commands_of(finding_of("platform.libc", facts)) == "wsl --install -d Ubuntu-24.04\n");
}

TEST_CASE("WSL1 fails and the command names the distribution when it is known") {
  Facts facts = healthy_facts();
  facts.platform.kind = PlatformKind::wsl1;
  test::set_variable(facts, "WSL_DISTRO_NAME", "Ubuntu-22.04");
  const Finding finding = finding_of("platform.wsl1", facts);
  CHECK(finding.status == Status::fail);
  CHECK(contains(commands_of(finding), "wsl --set-version Ubuntu-22.04 2"));
}

TEST_CASE("sudo warns, root by itself does not") {
  Facts facts = healthy_facts();
  facts.platform.is_root = true;
  CHECK(finding_of("platform.sudo", facts).status == Status::pass);
  facts.platform.under_sudo = true;
  CHECK(finding_of("platform.sudo", facts).status == Status::warn);
}

TEST_CASE("musl and an old glibc warn, an unreadable version is no verdict") {
  Facts facts = healthy_facts();
  facts.platform.libc_version = "2.28"s;
  CHECK(finding_of("platform.libc", facts).status == Status::pass);
  facts.platform.libc_version = "2.17"s;
  CHECK(finding_of("platform.libc", facts).status == Status::warn);
  facts.platform.libc_version = "stable"s;
  CHECK(finding_of("platform.libc", facts).status == Status::skip);
  facts.platform.libc_name = "musl"s;
  CHECK(finding_of("platform.libc", facts).status == Status::warn);
}

TEST_CASE("the advised jobs are bounded by memory and by CPUs") {
  Facts facts = healthy_facts();
  CHECK(contains(finding_of("platform.build-memory", facts).observed, "MAX_JOBS=16:"));
  facts.platform.memory_available = 10 * gib;
  CHECK(contains(finding_of("platform.build-memory", facts).observed, "MAX_JOBS=3:"));
  facts.platform.memory_available = 1 * gib;
  CHECK(contains(finding_of("platform.build-memory", facts).observed, "MAX_JOBS=1:"));
  facts.platform.memory_available = 50 * gib;
  facts.platform.memory_limit = 8 * gib;
  CHECK(contains(finding_of("platform.build-memory", facts).observed, "MAX_JOBS=2:"));
}

TEST_CASE("less than 4 GiB of memory and swap together warns; huge numbers do not overflow") {
  Facts facts = healthy_facts();
  facts.platform.memory_limit = 2 * gib;
  facts.platform.swap_total = std::uint64_t{0};
  CHECK(finding_of("platform.build-memory", facts).status == Status::warn);
  facts.platform.swap_total = 2 * gib;
  CHECK(finding_of("platform.build-memory", facts).status == Status::pass);
  facts.platform.memory_limit = ~std::uint64_t{0};
  facts.platform.swap_total = ~std::uint64_t{0};
  CHECK(finding_of("platform.build-memory", facts).status == Status::pass);
}

TEST_CASE("a small /dev/shm warns with the flag of the container at hand") {
  Facts facts = healthy_facts();
  facts.platform.shm_size = std::uint64_t{64 * 1024 * 1024};
  CHECK(contains(commands_of(finding_of("platform.shm", facts)), "mount -o remount"));
  facts.platform.container = ContainerKind::docker;
  const Finding finding = finding_of("platform.shm", facts);
  CHECK(finding.status == Status::warn);
  CHECK(contains(commands_of(finding), "--shm-size"));
}

}  // namespace sage
