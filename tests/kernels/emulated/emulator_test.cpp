// The emulator's own reports: each kind of mistake, once, in the smallest kernel that makes it.
#include <doctest/doctest.h>

#include <array>
#include <string>

#include "../../../kernels/emulator/amd_builtins.hpp"
#include "../../../kernels/emulator/ptx.hpp"

namespace {

using namespace sage_emulator;

Report run_kernel(const std::function<void()>& kernel, const int threads = 64, const WaveOrder order = WaveOrder::forward,
                  GlobalMemory* memory = nullptr, const int grid = 1) {
  GlobalMemory own;
  Report report;
  Launch launch;
  launch.threads = threads;
  launch.grid = grid;
  launch.order = order;
  run(launch, kernel, memory != nullptr ? *memory : own, report);
  return report;
}

bool mentions(const Report& report, const char* words) { return report.text().find(words) != std::string::npos; }

}  // namespace

TEST_CASE("shared memory: exchange with and without a barrier, in both wave orders") {
  for (const WaveOrder order : {WaveOrder::forward, WaveOrder::reverse}) {
    for (const bool with_barrier : {true, false}) {
      const Report report = run_kernel(
          [with_barrier] {
            const std::uint32_t shared = shared_allocate(256);
            const auto me = static_cast<std::uint32_t>(thread_id());
            shared_store<std::uint32_t>(shared + 4 * me, me);
            if (with_barrier) barrier();
            const auto other = shared_load<std::uint32_t>(shared + 4 * (63 - me));
            if (with_barrier) CHECK(other == 63 - me);
          },
          64, order);
      CHECK(report.clean() == with_barrier);
      if (!with_barrier) CHECK((mentions(report, "race") || mentions(report, "unwritten")));
    }
  }
}

TEST_CASE("shared memory: overwritten while others may still read") {
  for (const WaveOrder order : {WaveOrder::forward, WaveOrder::reverse}) {
    const Report report = run_kernel(
        [] {
          const std::uint32_t shared = shared_allocate(256);
          const auto me = static_cast<std::uint32_t>(thread_id());
          shared_store<std::uint32_t>(shared + 4 * me, me);
          barrier();
          (void)shared_load<std::uint32_t>(shared + 4 * (63 - me));
          shared_store<std::uint32_t>(shared + 4 * me, me);  // no barrier since the read
        },
        64, order);
    CHECK(mentions(report, "race"));
  }
}

TEST_CASE("shared memory: bounds, alignment, unwritten words") {
  CHECK(mentions(run_kernel([] { shared_store<std::uint32_t>(shared_allocate(256) + 256, 1U); }), "outside"));
  CHECK(mentions(run_kernel([] { (void)shared_load<std::uint32_t>(shared_allocate(256)); }), "unwritten"));
  CHECK(mentions(run_kernel([] { shared_store<i32x4>(shared_allocate(256) + 4, i32x4{}); }, 1), "misaligned"));
  CHECK(mentions(run_kernel([] { (void)shared_allocate(1 << 17); }), "limit"));
}

TEST_CASE("global memory: bounds, unwritten, read only, races") {
  std::array<std::uint32_t, 64> data{};
  const auto with = [&data](const GlobalMemory::Access access, const bool written, const std::function<void()>& kernel, const int grid = 1) {
    GlobalMemory memory;
    memory.add("data", data.data(), sizeof(data), access, written);
    return run_kernel(kernel, 64, WaveOrder::forward, &memory, grid);
  };
  using Access = GlobalMemory::Access;
  std::uint32_t* const p = data.data();
  CHECK(with(Access::read_write, true, [p] { global_store<std::uint32_t>(p + thread_id(), 1U); }).clean());
  CHECK(mentions(with(Access::read_write, true, [p] { (void)global_load<std::uint32_t>(p + 64 + thread_id()); }), "outside"));
  CHECK(mentions(with(Access::read_write, false, [p] { (void)global_load<std::uint32_t>(p + thread_id()); }), "unwritten"));
  CHECK(mentions(with(Access::read_only, true, [p] { global_store<std::uint32_t>(p + thread_id(), 1U); }), "read-only"));
  CHECK(mentions(with(Access::read_write, true, [p] { global_store<std::uint32_t>(p + thread_id() / 2, 1U); }), "written twice"));
  CHECK(mentions(with(Access::read_write, true,
                      [p] {
                        global_store<std::uint32_t>(p + thread_id(), 1U);
                        barrier();
                        (void)global_load<std::uint32_t>(p + (thread_id() + 1) % 64);
                      }),
                 "written and read in one launch"));
  CHECK(mentions(with(Access::read_write, true, [p] { global_store<std::uint32_t>(p + thread_id(), 1U); }, 2), "written twice"));
}

TEST_CASE("waves that do not keep together") {
  CHECK(mentions(run_kernel([] {
                   if (thread_id() < 32) barrier();
                 }),
                 "never reach"));
  CHECK(mentions(run_kernel([] {
                   if (thread_id() % 2 == 0) (void)__builtin_amdgcn_ballot_w32(true);
                 }),
                 "returned"));
  CHECK(mentions(run_kernel([] {
                   if (thread_id() % 2 == 0) {
                     (void)__builtin_amdgcn_ballot_w32(true);
                   } else {
                     (void)__builtin_amdgcn_readfirstlane(1);
                   }
                 }),
                 "different wave-wide instructions"));
  CHECK(mentions(run_kernel([] { (void)__builtin_amdgcn_readfirstlane(thread_id()); }), "uniform"));
}

TEST_CASE("gfx11 operands must be repeated in lanes 16 to 31") {
  const auto product = [](const bool repeated) {
    return run_kernel(
        [repeated] {
          const int me = repeated ? thread_id() % 16 : thread_id();
          (void)__builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, i32x4{me, 1, 2, 3}, true, i32x4{4, 5, 6, 7}, i32x8{}, false);
        },
        32);
  };
  CHECK(product(true).clean());
  CHECK(mentions(product(false), "does not repeat"));
}

TEST_CASE("asynchronous copies land late") {
  alignas(16) std::array<std::uint32_t, 4> data{1, 2, 3, 4};
  GlobalMemory memory;
  memory.add("data", data.data(), sizeof(data), GlobalMemory::Access::read_only, true);
  const auto copy = [&](const bool wait) {
    return run_kernel(
        [&data, wait] {
          const std::uint32_t shared = shared_allocate(16);
          ptx_cp_async_16(shared, data.data());
          if (wait) ptx_cp_async_wait_all();
          const auto x = shared_load<std::uint32_t>(shared);
          CHECK((x == 1) == wait);
        },
        1, WaveOrder::forward, &memory);
  };
  CHECK(copy(true).clean());
  CHECK(mentions(copy(false), "never waited"));
}

TEST_CASE("registers and shared memory start poisoned") {
  const Report report = run_kernel(
      [] {
        volatile float uninitialised[64];
        CHECK(static_cast<float>(uninitialised[17]) != static_cast<float>(uninitialised[17]));  // NaN
      },
      1);
  CHECK(report.clean());
}
