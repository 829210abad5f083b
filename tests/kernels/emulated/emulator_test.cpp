// The emulator's own reports: each kind of mistake, once, in the smallest kernel that makes it.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

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

TEST_CASE("lanes of a wave see each other's writes after the wave's barrier") {
  for (const bool with_barrier : {true, false}) {
    const Report report = run_kernel(
        [with_barrier] {
          const std::uint32_t shared = shared_allocate(128);
          const auto me = static_cast<std::uint32_t>(thread_id());
          shared_store<std::uint32_t>(shared + 4 * me, me);
          if (with_barrier) ptx_warp_sync();
          (void)shared_load<std::uint32_t>(shared + 4 * (31 - me));
        },
        32);
    CHECK(report.clean() == with_barrier);
  }
}

TEST_CASE("bulk copies and mbarriers: who waits for what") {
  alignas(16) std::array<std::uint32_t, 64> data{};
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint32_t>(i);
  enum class Mistake { none, reads_early, never_waits, reuses_early, announces_less, arrives_twice, starts_alone };
  const auto copies = [&data](const Mistake mistake, const WaveOrder order) {
    GlobalMemory memory;
    memory.add("data", data.data(), sizeof(data), GlobalMemory::Access::read_only, true);
    return run_kernel(
        [&data, mistake] {
          // Two copies into the same place: every wave reads the first and releases it before the second is asked for.
          const std::uint32_t shared = shared_allocate(256 + 16);
          const std::uint32_t full = shared + 256;
          const std::uint32_t empty = full + 8;
          const auto me = static_cast<std::uint32_t>(thread_id());
          const auto ask = [&] {
            ptx_mbarrier_expect(full, mistake == Mistake::announces_less ? 128 : 256);
            ptx_bulk_copy(shared, data.data(), 256, full);
          };
          if (me == 0) {
            ptx_mbarrier_init(full, 1);
            ptx_mbarrier_init(empty, 2);
            ptx_mbarrier_fence();
            ask();
          }
          if (mistake != Mistake::starts_alone) barrier();
          if (mistake == Mistake::never_waits) return;
          if (mistake != Mistake::reads_early) ptx_mbarrier_wait(full, 0);
          const auto x = shared_load<std::uint32_t>(shared + 4 * me);
          if (mistake == Mistake::none) CHECK(x == me);
          ptx_warp_sync();
          if (me % 32 == 0) ptx_mbarrier_arrive(empty);
          if (mistake == Mistake::arrives_twice && me == 32) {
            ptx_mbarrier_arrive(empty);
            ptx_mbarrier_arrive(empty);
          }
          if (me / 32 == 0) {
            if (mistake != Mistake::reuses_early) ptx_mbarrier_wait(empty, 0);
            if (me == 0) ask();
          }
          ptx_mbarrier_wait(full, 1);
          const auto again = shared_load<std::uint32_t>(shared + 4 * me);
          if (mistake == Mistake::none) CHECK(again == me);
        },
        64, order, &memory);
  };
  for (const WaveOrder order : {WaveOrder::forward, WaveOrder::reverse}) {
    const Report sound = copies(Mistake::none, order);
    CHECK_MESSAGE(sound.clean(), sound.text());
    CHECK(mentions(copies(Mistake::reads_early, order), "written by a bulk copy"));
    CHECK(mentions(copies(Mistake::never_waits, order), "nobody waited"));
    CHECK(mentions(copies(Mistake::starts_alone, order), "shared word 256"));
  }
  // The wave that was to read the first copy finds the second, or has read before the one who asks can know.
  CHECK(mentions(copies(Mistake::reuses_early, WaveOrder::forward), "nobody completes"));
  CHECK(mentions(copies(Mistake::reuses_early, WaveOrder::reverse), "race"));
  CHECK(mentions(copies(Mistake::announces_less, WaveOrder::forward), "nobody completes"));
  CHECK_FALSE(copies(Mistake::arrives_twice, WaveOrder::forward).clean());
  CHECK(mentions(run_kernel([] { ptx_mbarrier_wait(shared_allocate(16), 0); }, 32), "no mbarrier"));
}

TEST_CASE("a warpgroup's product, and what its user may forget") {
  // 64 x 32 by 32 x 64 in int8, rows of 64 bytes, of which the first 32 are used; the swizzle of such rows.
  enum class Mistake { none, no_fence, no_commit, no_wait, reads_early, no_proxy_fence, overwrites };
  const auto element = [](const int matrix, const int row, const int k) { return (row * 7 + k * 3 + matrix * 5) % 11 - 5; };
  const auto multiply = [&element](const Mistake mistake) {
    return run_kernel(
        [&element, mistake] {
          const std::uint32_t shared = shared_allocate(8192);
          const int me = thread_id();
          for (int matrix = 0; matrix < 2; ++matrix) {
            for (int word = me; word < 64 * 16; word += 128) {
              const int row = word / 16;
              std::uint32_t bytes = 0;
              for (int e = 0; e < 4; ++e) {
                bytes |= static_cast<std::uint32_t>(element(matrix, row, word % 16 * 4 + e) & 0xff) << 8 * e;
              }
              const auto at = static_cast<std::uint32_t>(matrix * 4096 + row * 64 + (word % 16 * 4 ^ row / 2 % 4 * 16));
              shared_store<std::uint32_t>(shared + at, bytes);
            }
          }
          if (mistake != Mistake::no_proxy_fence) ptx_proxy_fence();
          barrier();
          const auto tile = [](const std::uint32_t at) {
            return static_cast<unsigned long long>(at >> 4) | 32ULL << 32 | 2ULL << 62;
          };
          int c[32];
          for (int& x : c) x = 1000;
          if (mistake != Mistake::no_fence) ptx_wgmma_fence();
          ptx_wgmma_s8(c, tile(shared), tile(shared + 4096));
          if (mistake == Mistake::reads_early) CHECK(c[0] == -1);
          if (mistake == Mistake::overwrites && me == 0) shared_store<std::uint32_t>(shared + 4096, 0U);
          if (mistake != Mistake::no_commit) ptx_wgmma_commit();
          if (mistake == Mistake::no_wait) return;
          ptx_wgmma_wait();
          for (int i = 0; i < 32 && mistake == Mistake::none; ++i) {
            const int row = me / 4 % 8 + i / 2 % 2 * 8 + me / 32 * 16;
            const int column = i / 4 * 8 + me % 4 * 2 + i % 2;
            int sum = 1000;
            for (int k = 0; k < 32; ++k) sum += element(0, row, k) * element(1, column, k);
            CHECK(c[i] == sum);
          }
        },
        128);
  };
  const Report sound = multiply(Mistake::none);
  CHECK_MESSAGE(sound.clean(), sound.text());
  CHECK(mentions(multiply(Mistake::no_fence), "without a fence"));
  CHECK(mentions(multiply(Mistake::no_commit), "without a commit"));
  CHECK(mentions(multiply(Mistake::no_wait), "never waited"));
  CHECK(multiply(Mistake::reads_early).clean());  // what it reads is poison
  CHECK(mentions(multiply(Mistake::no_proxy_fence), "no proxy fence"));
  CHECK(mentions(multiply(Mistake::overwrites), "race"));
}

TEST_CASE("a box of a tensor: swizzled, zeros where the tensor has ended, nothing read there") {
  // [1][2][5][20] elements, the second head; a box of 32 elements by 8 tokens that begins at token 2.
  std::vector<std::uint16_t> data(2 * 5 * 20);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint16_t>(i + 1);
  TensorMap map{};
  map.base = reinterpret_cast<const unsigned char*>(data.data());
  const std::uint64_t extents[4] = {20, 5, 2, 1};
  const std::uint64_t strides[3] = {40, 200, 400};
  std::copy(std::begin(extents), std::end(extents), map.extents);
  std::copy(std::begin(strides), std::end(strides), map.strides);
  map.box[0] = 32;
  map.box[1] = 8;
  map.swizzle_bytes = 64;
  const int first[4] = {0, 2, 1, 0};
  const BoxCopy copy = box_copy(map, first);
  CHECK(copy.bytes == 512);
  std::vector<unsigned char> landed(copy.bytes);
  std::size_t read = 0;
  for (const CopyPiece& piece : copy.pieces) {
    std::memcpy(landed.data() + piece.to, piece.from, piece.bytes);
    read += piece.bytes;
  }
  CHECK(read == 3 * 40);
  for (std::uint32_t row = 0; row < 8; ++row) {
    for (std::uint32_t e = 0; e < 32; ++e) {
      const std::uint32_t at = row * 64 + (e * 2 ^ row / 2 % 4 * 16);
      const int expected = row < 3 && e < 20 ? static_cast<int>((5 + 2 + row) * 20 + e + 1) : 0;
      CHECK((landed[at] | landed[at + 1] << 8) == expected);
    }
  }
  for (const auto& [dimension, beyond] : {std::pair{0, 20}, {1, 5}, {2, 2}, {3, 1}}) {
    int outside[4] = {0, 0, 0, 0};
    outside[dimension] = beyond;
    CHECK(box_copy(map, outside).pieces.empty());
    CHECK(box_copy(map, outside).bytes == 512);
  }
}

TEST_CASE("a warpgroup's product with rows of k, and a box that lies wrongly") {
  // 64 x 16 by 16 x 72 in f16: a chunk of 64 columns, and 8 of the next one, 4096 bytes on.
  const auto element = [](const int k, const int column) { return (k * 5 + column * 3) % 13 - 6; };
  const Report sound = run_kernel(
      [&element] {
        const std::uint32_t shared = shared_allocate(8192);
        const int me = thread_id();
        for (int unit = me; unit < 16 * 16; unit += 128) {
          const int k = unit / 16;
          const int chunk = unit % 16 / 8;
          for (int pair = 0; pair < 4; ++pair) {
            const int column = chunk * 64 + unit % 8 * 8 + pair * 2;
            const std::uint32_t word = ptx_cvt_f16x2(static_cast<float>(element(k, column)), static_cast<float>(element(k, column + 1)));
            const auto at = static_cast<std::uint32_t>(chunk * 4096 + k * 128 + ((unit % 8 ^ k % 8) * 16 + pair * 4));
            shared_store<std::uint32_t>(shared + at, word);
          }
        }
        ptx_proxy_fence();
        barrier();
        const unsigned long long tile = (shared >> 4) | (4096ULL >> 4) << 16 | (1024ULL >> 4) << 32 | 1ULL << 62;
        // A: row r has r + 1 at k = r % 16, else zero.
        ptx_u32x4 a = {0, 0, 0, 0};
        for (int r = 0; r < 4; ++r) {
          const int row = me / 32 * 16 + me % 32 / 4 + r % 2 * 8;
          const int k = r / 2 * 8 + me % 4 * 2;
          a[r] = ptx_cvt_f16x2(row % 16 == k ? static_cast<float>(row + 1) : 0.0F, row % 16 == k + 1 ? static_cast<float>(row + 1) : 0.0F);
        }
        float c[36];
        for (float& x : c) x = 0.5F;
        ptx_wgmma_fence();
        ptx_wgmma_f16(c, a, tile);
        ptx_wgmma_commit();
        ptx_wgmma_wait();
        for (int i = 0; i < 36; ++i) {
          const int row = me / 32 * 16 + me % 32 / 4 + i / 2 % 2 * 8;
          const int column = i / 4 * 8 + me % 4 * 2 + i % 2;
          CHECK(c[i] == 0.5F + static_cast<float>((row + 1) * element(row % 16, column)));
        }
      },
      128);
  CHECK_MESSAGE(sound.clean(), sound.text());

  std::vector<std::uint16_t> data(64 * 64);
  TensorMap map{reinterpret_cast<const unsigned char*>(data.data()), {64, 64, 1, 1}, {128, 128, 128}, {64, 64}, 128};
  const Report odd = run_kernel(
      [&map] {
        const std::uint32_t shared = shared_allocate(16384);
        if (thread_id() != 0) return;
        ptx_mbarrier_init(shared, 1);
        tensor_copy(shared + 512, map, {0, 0, 0, 0}, shared);
      },
      32);
  CHECK(mentions(odd, "multiple of eight rows"));
}

TEST_CASE("halves and bytes by themselves") {
  CHECK(ptx_prmt(0x03020100U, 0x07060504U, 0x5410U) == 0x05040100U);
  CHECK(ptx_prmt(0x03020100U, 0x07060504U, 0x7632U) == 0x07060302U);
  CHECK(ptx_max_f16x2(0x3c00bc00U, 0x40007e00U) == 0x4000bc00U);  // (1, -1), (2, NaN)
  CHECK(ptx_min_f16x2(0x3c00bc00U, 0x40007e00U) == 0x3c00bc00U);
  CHECK(ptx_max_bf16x2(0x3f80bf80U, 0x40003f80U) == 0x40003f80U);
  CHECK(ptx_min_bf16x2(0x3f80bf80U, 0x40003f80U) == 0x3f80bf80U);
  CHECK(ptx_cvt_bf16x2(1.0F, -2.0F) == 0xc0003f80U);
  CHECK(ptx_cvt_bf16x2(1.00390625F, 1.01171875F) == 0x3f823f80U);  // ties to even
}
