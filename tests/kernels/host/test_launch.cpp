// Problems, buffers and launches, on a stand-in for libamdhip64 that records them.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <limits>
#include <new>
#include <set>
#include <thread>

#include "runtime_fixture.hpp"

using namespace sage::test;
namespace device = sage::device;

namespace {

std::atomic<long> allocations{0};

constexpr auto lowest = std::numeric_limits<std::int32_t>::min();
constexpr auto highest = std::numeric_limits<std::int32_t>::max();
constexpr auto far = std::numeric_limits<std::int64_t>::max();
constexpr auto far_back = std::numeric_limits<std::int64_t>::min();

struct Ready {
  FakeDriver driver{FAKE_HIP6};
  ContextHolder holder;
  sage_error error{};

  explicit Ready(const ObjectSpec& spec = gfx1201_spec(), const char* target = "gfx1201") {
    std::strcpy(driver.state->target, target);
    const sage_status status = make_context({build_object(spec).file}, holder, &error);
    REQUIRE_MESSAGE(status == SAGE_OK, error.text);
  }

  std::uint64_t workspace(const sage_attention_problem& problem) {
    std::uint64_t bytes = 0;
    REQUIRE_MESSAGE(sage_attention_workspace(holder.context, &problem, &bytes, &error) == SAGE_OK, error.text);
    return bytes;
  }
  sage_status launch(const sage_attention_problem& problem, const sage_attention_buffers& buffers,
                     void* stream = nullptr) {
    return sage_attention_launch(holder.context, &problem, &buffers, stream, &error);
  }
  std::string kernel(const sage_attention_problem& problem) {
    const char* name = nullptr;
    REQUIRE_MESSAGE(sage_attention_kernel(holder.context, &problem, &name, &error) == SAGE_OK, error.text);
    return name;
  }
};

SageArgs arguments_of(const fake_launch& launch) {
  SageArgs args;
  std::memcpy(&args, launch.arguments, sizeof args);
  return args;
}

}  // namespace

// Counts what this whole program allocates, so that a test can ask whether a launch did.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

TEST_CASE("a call is a chain of launches on the caller's stream") {
  Ready ready;
  sage_attention_problem problem = sample_problem();
  problem.flags = SAGE_FLAG_SMOOTH_K | SAGE_FLAG_LSE;
  problem.mask = SAGE_ATTENTION_MASK_CAUSAL_TOP_LEFT;
  problem.io_type = SAGE_IO_BF16;
  const std::uint64_t bytes = ready.workspace(problem);
  sage_attention_buffers buffers = sample_buffers(bytes);
  buffers.lse = reinterpret_cast<float*>(0x50000);
  void* const stream = reinterpret_cast<void*>(0x77);
  REQUIRE_MESSAGE(ready.launch(problem, buffers, stream) == SAGE_OK, ready.error.text);
  CHECK(ready.error.status == SAGE_OK);

  const fake_state& state = *ready.driver.state;
  REQUIRE(state.launches == 4);
  CHECK(std::string{state.log[0].kernel} == "sage_statistics");
  CHECK(std::string{state.log[1].kernel} == "sage_finalise");
  CHECK(std::string{state.log[2].kernel} == "sage_quantise");
  CHECK(std::string{state.log[3].kernel} == ready.kernel(problem));
  CHECK(state.log[0].grid[0] == 2 * 4 * 1);  // one chunk of 256 keys per slice
  CHECK(state.log[1].grid[0] == 2 * 4);
  CHECK(state.log[2].grid[0] ==
        2 * 8 * 4 + 2 * 4 * 4 + 2 * 4 * 2);  // 100 queries and 128 padded keys by 32, keys by 64
  CHECK(state.log[3].grid[0] == 2 * 8 * 1);  // 128 queries per workgroup
  for (int i = 0; i < 4; ++i) {
    const fake_launch& launch = state.log[i];
    CHECK(launch.stream == stream);
    CHECK(launch.grid[1] == 1);
    CHECK(launch.grid[2] == 1);
    CHECK(launch.block[0] == 256);  // 8 waves of 32 for the attention kernel too
    CHECK(launch.block[1] == 1);
    CHECK(launch.block[2] == 1);
    CHECK(launch.shared_bytes == 0);
    CHECK(launch.extra_used == 0);
    const SageArgs args = arguments_of(launch);
    CHECK(args.q == buffers.q);
    CHECK(args.k == buffers.k);
    CHECK(args.v == buffers.v);
    CHECK(args.out == buffers.out);
    CHECK(args.lse == buffers.lse);
    CHECK(args.batch == 2);
    CHECK(args.q_heads == 8);
    CHECK(args.kv_heads == 4);
    CHECK(args.q_len == 100);
    CHECK(args.kv_len == 77);
    CHECK(args.head_dim == 64);
    CHECK(args.mask == SAGE_MASK_CAUSAL_TOP_LEFT);
    CHECK(args.io_type == SAGE_TYPE_BF16);
    CHECK(args.pv_type == SAGE_PV_F16);
    CHECK(args.sm_scale == 0.125F);
    CHECK(args.q_stride.head == 6400);
    CHECK(args.k_stride.batch == 4 * 77 * 64);
    CHECK(args.v_stride.token == 64);
    CHECK(args.out_stride.dim == 1);
    CHECK(args.k_mean != nullptr);
    CHECK(args.q_mean != nullptr);
    // Everything in the workspace is inside of what was asked for.
    const auto* const base = static_cast<const char*>(buffers.workspace);
    for (const void* const part : {static_cast<const void*>(args.q8), static_cast<const void*>(args.k8),
                                   static_cast<const void*>(args.vt), static_cast<const void*>(args.partial)}) {
      CHECK(part >= base);
      CHECK(part < base + bytes);
    }
  }
}

TEST_CASE("the ABI's numbers are the kernels' numbers") {
  CHECK(int{SAGE_IO_F16} == SAGE_TYPE_F16);
  CHECK(int{SAGE_IO_BF16} == SAGE_TYPE_BF16);
  CHECK(int{SAGE_PV_TYPE_F16} == SAGE_PV_F16);
  CHECK(int{SAGE_PV_TYPE_FP8} == SAGE_PV_FP8);
  CHECK(int{SAGE_ATTENTION_MASK_NONE} == SAGE_MASK_NONE);
  CHECK(int{SAGE_ATTENTION_MASK_CAUSAL_BOTTOM_RIGHT} == SAGE_MASK_CAUSAL_BOTTOM_RIGHT);
  CHECK(int{SAGE_ATTENTION_MASK_CAUSAL_TOP_LEFT} == SAGE_MASK_CAUSAL_TOP_LEFT);
}

TEST_CASE("without keys only the launches that write the defined result are made") {
  Ready ready;
  sage_attention_problem problem = sample_problem();
  problem.kv_len = 0;
  sage_attention_buffers buffers = sample_buffers(ready.workspace(problem));
  buffers.k = nullptr;
  buffers.v = nullptr;
  REQUIRE_MESSAGE(ready.launch(problem, buffers) == SAGE_OK, ready.error.text);
  REQUIRE(ready.driver.state->launches == 2);
  CHECK(std::string{ready.driver.state->log[0].kernel} == "sage_quantise");
  CHECK(arguments_of(ready.driver.state->log[1]).kv_len == 0);
}

TEST_CASE("statistics are left out when nothing needs them") {
  Ready ready;
  sage_attention_problem problem = sample_problem();
  problem.flags = 0;
  REQUIRE(ready.launch(problem, sample_buffers(ready.workspace(problem))) == SAGE_OK);
  CHECK(ready.driver.state->launches == 2);
}

TEST_CASE("every field of the problem out of range has its own code and text, and nothing is launched") {
  Ready ready;
  using Problem = sage_attention_problem;
  struct Case {
    const char* what;
    sage_status expected;
    std::function<void(Problem&)> spoil;
  };
  const std::vector<Case> cases = {
      {"struct_size", SAGE_E_STRUCT_SIZE, [](Problem& p) { p.struct_size = sizeof(Problem) - 1; }},
      {"struct_size", SAGE_E_STRUCT_SIZE, [](Problem& p) { p.struct_size = 0; }},
      {"struct_size", SAGE_E_STRUCT_SIZE, [](Problem& p) { p.struct_size = 0xffffffff; }},
      {"version", SAGE_E_STRUCT_VERSION, [](Problem& p) { p.version = 0; }},
      {"version", SAGE_E_STRUCT_VERSION, [](Problem& p) { p.version = 2; }},
      {"batch", SAGE_E_BATCH, [](Problem& p) { p.batch = 0; }},
      {"batch", SAGE_E_BATCH, [](Problem& p) { p.batch = lowest; }},
      {"q_heads", SAGE_E_Q_HEADS, [](Problem& p) { p.q_heads = 0; }},
      {"q_heads", SAGE_E_Q_HEADS, [](Problem& p) { p.q_heads = -8; }},
      {"kv_heads", SAGE_E_KV_HEADS, [](Problem& p) { p.kv_heads = 0; }},
      {"kv_heads", SAGE_E_KV_HEADS, [](Problem& p) { p.kv_heads = -4; }},
      {"q_heads", SAGE_E_HEAD_RATIO, [](Problem& p) { p.kv_heads = 3; }},
      {"q_heads", SAGE_E_HEAD_RATIO, [](Problem& p) { p.kv_heads = 16; }},
      {"q_len", SAGE_E_Q_LEN, [](Problem& p) { p.q_len = 0; }},
      {"q_len", SAGE_E_Q_LEN, [](Problem& p) { p.q_len = -1; }},
      {"q_len", SAGE_E_Q_LEN, [](Problem& p) { p.q_len = (1 << 30) + 1; }},
      {"kv_len", SAGE_E_KV_LEN, [](Problem& p) { p.kv_len = -1; }},
      {"kv_len", SAGE_E_KV_LEN, [](Problem& p) { p.kv_len = (1 << 22) + 1; }},
      {"kv_len", SAGE_E_KV_LEN, [](Problem& p) { p.kv_len = highest; }},
      {"head_dim", SAGE_E_HEAD_DIM, [](Problem& p) { p.head_dim = 0; }},
      {"head_dim", SAGE_E_HEAD_DIM, [](Problem& p) { p.head_dim = 257; }},
      {"head_dim", SAGE_E_HEAD_DIM, [](Problem& p) { p.head_dim = lowest; }},
      {"io_type", SAGE_E_IO_TYPE, [](Problem& p) { p.io_type = 2; }},
      {"io_type", SAGE_E_IO_TYPE, [](Problem& p) { p.io_type = 0xffffffff; }},
      {"pv_type", SAGE_E_PV_TYPE, [](Problem& p) { p.pv_type = 2; }},
      {"mask", SAGE_E_MASK, [](Problem& p) { p.mask = 3; }},
      {"flags", SAGE_E_FLAGS, [](Problem& p) { p.flags = 4; }},
      {"flags", SAGE_E_FLAGS, [](Problem& p) { p.flags = 0x80000000; }},
      {"sm_scale", SAGE_E_SM_SCALE, [](Problem& p) { p.sm_scale = -65537.0F; }},
      {"sm_scale", SAGE_E_SM_SCALE, [](Problem& p) { p.sm_scale = 65537.0F; }},
      {"sm_scale", SAGE_E_SM_SCALE, [](Problem& p) { p.sm_scale = std::numeric_limits<float>::quiet_NaN(); }},
      {"sm_scale", SAGE_E_SM_SCALE, [](Problem& p) { p.sm_scale = std::numeric_limits<float>::infinity(); }},
      {"reserved", SAGE_E_RESERVED, [](Problem& p) { p.reserved = 1; }},
      {"problem.q:", SAGE_E_Q_STRIDE, [](Problem& p) { p.q.batch = far; }},
      {"problem.q:", SAGE_E_Q_STRIDE, [](Problem& p) { p.q.token = far_back; }},
      {"problem.k:", SAGE_E_K_STRIDE, [](Problem& p) { p.k.head = far; }},
      {"problem.v:", SAGE_E_V_STRIDE, [](Problem& p) { p.v.dim = far_back; }},
      {"problem.out:", SAGE_E_OUT_STRIDE, [](Problem& p) { p.out.token = far; }},
      {"problem.out:", SAGE_E_OUT_OVERLAP, [](Problem& p) { p.out.token = 0; }},
      {"problem.out:", SAGE_E_OUT_OVERLAP, [](Problem& p) { p.out.token = 63; }},
      {"problem.out:", SAGE_E_OUT_OVERLAP, [](Problem& p) { p.out.head = -6399; }},
      {"problem.out:", SAGE_E_OUT_OVERLAP, [](Problem& p) { p.out.dim = 0; }},
      {"workgroups", SAGE_E_GRID,
       [](Problem& p) {
         p.batch = highest;
         p.q.batch = p.k.batch = p.v.batch = 0;
         p.out.batch = 51200;
       }},
      {"workgroups", SAGE_E_GRID,
       [](Problem& p) {
         p.q_heads = p.kv_heads = 1 << 20;
         p.batch = 1;
         p.q_len = 1 << 20;
         p.q = p.k = p.v = {0, 0, 0, 1};
         p.out = {0, 1 << 26, 64, 1};
       }},
      {"workgroups", SAGE_E_GRID,
       [](Problem& p) {
         p.batch = 1 << 16;
         p.kv_len = 1 << 22;
         p.q = p.k = p.v = {0, 0, 0, 1};
       }},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string{c.what});
    CAPTURE(c.expected);
    Problem problem = sample_problem();
    const sage_attention_buffers buffers = sample_buffers(ready.workspace(problem));
    c.spoil(problem);
    CHECK(ready.launch(problem, buffers) == c.expected);
    CHECK(ready.error.status == c.expected);
    CHECK(ready.error.driver_code == 0);
    CHECK_MESSAGE(std::string{ready.error.text}.find(c.what) != std::string::npos, ready.error.text);
    std::uint64_t bytes = 0;
    CHECK(sage_attention_workspace(ready.holder.context, &problem, &bytes, nullptr) == c.expected);
    const char* name = nullptr;
    CHECK(sage_attention_kernel(ready.holder.context, &problem, &name, nullptr) == c.expected);
    CHECK(name == nullptr);
  }
  CHECK(ready.driver.state->launched_total == 0);
}

TEST_CASE("every buffer that is missing, misaligned or too small has its own code and text, and nothing is launched") {
  Ready ready;
  using Buffers = sage_attention_buffers;
  struct Case {
    const char* what;
    sage_status expected;
    std::function<void(Buffers&)> spoil;
  };
  const auto odd = [](auto& pointer, std::uintptr_t by) {
    pointer =
        reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(reinterpret_cast<std::uintptr_t>(pointer) + by);
  };
  const std::vector<Case> cases = {
      {"struct_size", SAGE_E_STRUCT_SIZE, [](Buffers& b) { b.struct_size = 8; }},
      {"version", SAGE_E_STRUCT_VERSION, [](Buffers& b) { b.version = 9; }},
      {"buffers.q ", SAGE_E_NULL_Q, [](Buffers& b) { b.q = nullptr; }},
      {"buffers.k ", SAGE_E_NULL_K, [](Buffers& b) { b.k = nullptr; }},
      {"buffers.v ", SAGE_E_NULL_V, [](Buffers& b) { b.v = nullptr; }},
      {"buffers.out ", SAGE_E_NULL_OUT, [](Buffers& b) { b.out = nullptr; }},
      {"buffers.lse ", SAGE_E_NULL_LSE, [](Buffers& b) { b.lse = nullptr; }},
      {"buffers.workspace ", SAGE_E_NULL_WORKSPACE, [](Buffers& b) { b.workspace = nullptr; }},
      {"buffers.q ", SAGE_E_Q_ALIGNMENT, [&](Buffers& b) { odd(b.q, 1); }},
      {"buffers.k ", SAGE_E_K_ALIGNMENT, [&](Buffers& b) { odd(b.k, 1); }},
      {"buffers.v ", SAGE_E_V_ALIGNMENT, [&](Buffers& b) { odd(b.v, 1); }},
      {"buffers.out ", SAGE_E_OUT_ALIGNMENT, [&](Buffers& b) { odd(b.out, 1); }},
      {"buffers.lse ", SAGE_E_LSE_ALIGNMENT, [&](Buffers& b) { odd(b.lse, 2); }},
      {"buffers.workspace ", SAGE_E_WORKSPACE_ALIGNMENT, [&](Buffers& b) { odd(b.workspace, 128); }},
      {"workspace_size", SAGE_E_WORKSPACE_SIZE, [](Buffers& b) { b.workspace_size -= 1; }},
      {"workspace_size", SAGE_E_WORKSPACE_SIZE, [](Buffers& b) { b.workspace_size = 0; }},
  };
  sage_attention_problem problem = sample_problem();
  problem.flags |= SAGE_FLAG_LSE;
  for (const Case& c : cases) {
    CAPTURE(std::string{c.what});
    CAPTURE(c.expected);
    Buffers buffers = sample_buffers(ready.workspace(problem));
    buffers.lse = reinterpret_cast<float*>(0x50000);
    c.spoil(buffers);
    CHECK(ready.launch(problem, buffers) == c.expected);
    CHECK(ready.error.status == c.expected);
    CHECK_MESSAGE(std::string{ready.error.text}.find(c.what) != std::string::npos, ready.error.text);
  }
  sage_attention_problem without = sample_problem();
  sage_attention_buffers unwanted = sample_buffers(ready.workspace(without));
  unwanted.lse = reinterpret_cast<float*>(0x50000);
  CHECK(ready.launch(without, unwanted) == SAGE_E_UNWANTED_LSE);
  CHECK(ready.driver.state->launched_total == 0);
}

TEST_CASE("null arguments") {
  Ready ready;
  const sage_attention_problem problem = sample_problem();
  const sage_attention_buffers buffers = sample_buffers(ready.workspace(problem));
  std::uint64_t bytes = 0;
  const char* name = nullptr;
  sage_context_info info{};
  CHECK(sage_attention_launch(nullptr, &problem, &buffers, nullptr, nullptr) == SAGE_E_NULL_CONTEXT);
  CHECK(sage_attention_launch(ready.holder.context, nullptr, &buffers, nullptr, nullptr) == SAGE_E_NULL_PROBLEM);
  CHECK(sage_attention_launch(ready.holder.context, &problem, nullptr, nullptr, nullptr) == SAGE_E_NULL_BUFFERS);
  CHECK(sage_attention_workspace(nullptr, &problem, &bytes, nullptr) == SAGE_E_NULL_CONTEXT);
  CHECK(sage_attention_workspace(ready.holder.context, nullptr, &bytes, nullptr) == SAGE_E_NULL_PROBLEM);
  CHECK(sage_attention_workspace(ready.holder.context, &problem, nullptr, nullptr) == SAGE_E_NULL_RESULT);
  CHECK(sage_attention_kernel(ready.holder.context, &problem, nullptr, nullptr) == SAGE_E_NULL_RESULT);
  CHECK(sage_attention_kernel(nullptr, &problem, &name, nullptr) == SAGE_E_NULL_CONTEXT);
  CHECK(sage_context_describe(nullptr, &info, nullptr) == SAGE_E_NULL_CONTEXT);
  CHECK(sage_context_describe(ready.holder.context, nullptr, nullptr) == SAGE_E_NULL_RESULT);
  sage_context_destroy(nullptr);
  CHECK(ready.driver.state->launched_total == 0);
}

TEST_CASE("a structure of a later header is accepted when its new fields are zero") {
  Ready ready;
  struct Later {
    sage_attention_problem known = sample_problem();
    std::uint64_t more = 0;
  } later;
  later.known.struct_size = sizeof later;
  std::uint64_t bytes = 0;
  CHECK(sage_attention_workspace(ready.holder.context, &later.known, &bytes, nullptr) == SAGE_OK);
  later.more = std::uint64_t{1} << 63U;
  CHECK(sage_attention_workspace(ready.holder.context, &later.known, &bytes, nullptr) == SAGE_E_STRUCT_TAIL);
}

TEST_CASE("layouts that are allowed") {
  Ready ready;
  const auto accepted = [&](const sage_attention_problem& problem) {
    std::uint64_t bytes = 0;
    return sage_attention_workspace(ready.holder.context, &problem, &bytes, &ready.error) == SAGE_OK;
  };
  sage_attention_problem p = sample_problem();
  p.q = p.out = {100 * 8 * 64, 64, 8 * 64, 1};  // NHD
  CHECK(accepted(p));
  p.out.token = -8 * 64;  // backwards
  CHECK(accepted(p));
  p.k = p.v = {0, 0, 0, 0};  // one element for all
  CHECK(accepted(p));
  p = sample_problem();
  p.batch = 1;
  p.q.batch = p.out.batch = far;  // never stepped along
  CHECK(accepted(p));
  p.head_dim = 1;
  p.out.dim = 0;
  CHECK(accepted(p));
  p = sample_problem();
  p.out = {1, 2, 16, 1600};  // dim outermost
  CHECK(accepted(p));
  for (const float scale : {0.0F, -0.125F, 65536.0F}) {
    p.sm_scale = scale;
    CHECK(accepted(p));
  }
}

TEST_CASE("the workspace grows with the problem and does not depend on strides") {
  Ready ready;
  sage_attention_problem p = sample_problem();
  const std::uint64_t small = ready.workspace(p);
  CHECK(small > 0);
  p.out.token = 1000;
  p.out.head = 100000;
  p.out.batch = 1000000;
  CHECK(ready.workspace(p) == small);
  p.kv_len = 1000;
  const std::uint64_t longer = ready.workspace(p);
  CHECK(longer > small);
  p.pv_type = SAGE_PV_TYPE_FP8;
  CHECK(ready.workspace(p) < longer);
}

TEST_CASE("the kernel follows head dim, type and length") {
  Ready ready;
  sage_attention_problem p = sample_problem();
  std::set<std::string> names;
  for (const int head_dim : {1, 64, 65, 96, 97, 128, 129, 256}) {
    for (const int q_len : {1, 100, 5000}) {
      for (const std::uint32_t pv : {SAGE_PV_TYPE_F16, SAGE_PV_TYPE_FP8}) {
        p.head_dim = head_dim;
        p.q_len = q_len;
        p.pv_type = pv;
        p.q = p.out = contiguous(p.q_heads, p.q_len, head_dim);
        p.k = p.v = contiguous(p.kv_heads, p.kv_len, head_dim);
        names.insert(ready.kernel(p));
      }
    }
  }
  CHECK(names.size() == 16);  // 4 padded dims, 2 types, 2 length classes
}

TEST_CASE("a missing length class is replaced by the other, a missing head dim is an error") {
  ObjectSpec spec = gfx1201_spec();
  std::erase_if(spec.kernels, [](const KernelSpec& k) {
    return k.name == "sage_attention_d64_F16_SHORT" || k.name.find("_d96_F16_") != std::string::npos;
  });
  Ready ready{spec};
  sage_attention_problem p = sample_problem();
  CHECK(ready.kernel(p) == "sage_attention_d64_F16_LONG");
  p.head_dim = 80;
  p.q = p.out = contiguous(p.q_heads, p.q_len, 80);
  std::uint64_t bytes = 0;
  CHECK(sage_attention_workspace(ready.holder.context, &p, &bytes, &ready.error) == SAGE_E_NO_KERNEL);
  CHECK(std::string{ready.error.text}.find("head_dim 80") != std::string::npos);
}

TEST_CASE("fp8 where the GPU has no instructions for it") {
  Ready ready{gfx1100_spec(), "gfx1100"};
  sage_attention_problem p = sample_problem();
  p.pv_type = SAGE_PV_TYPE_FP8;
  CHECK(ready.launch(p, sample_buffers(std::uint64_t{1} << 40U)) == SAGE_E_PV_UNAVAILABLE);
  CHECK(ready.driver.state->launched_total == 0);
}

TEST_CASE("driver errors are passed on with their number, and the chain stops") {
  Ready ready;
  const sage_attention_problem problem = sample_problem();
  const sage_attention_buffers buffers = sample_buffers(ready.workspace(problem));
  ready.driver.state->launch_result = 719;
  for (int failing = 1; failing <= 4; ++failing) {
    ready.driver.state->launched_total = 0;
    ready.driver.state->launches = 0;
    ready.driver.state->failing_launch = failing;
    CHECK(ready.launch(problem, buffers) == SAGE_E_DRIVER);
    CHECK(ready.error.driver_code == 719);
    CHECK(std::string{ready.error.text}.find("719") != std::string::npos);
    CHECK(std::string{ready.error.text}.find('\x01') == std::string::npos);
    CHECK(ready.driver.state->launched_total == failing);
  }
}

TEST_CASE("another current device is an error before anything is launched") {
  Ready ready;
  const sage_attention_problem problem = sample_problem();
  const sage_attention_buffers buffers = sample_buffers(ready.workspace(problem));
  ready.driver.state->device = 1;
  CHECK(ready.launch(problem, buffers) == SAGE_E_WRONG_DEVICE);
  ready.driver.state->get_device_result = 100;
  CHECK(ready.launch(problem, buffers) == SAGE_E_NO_DEVICE);
  CHECK(ready.driver.state->launched_total == 0);
}

TEST_CASE("nothing is allocated by queries, launches and failures") {
  Ready ready;
  sage_attention_problem problem = sample_problem();
  const sage_attention_buffers buffers = sample_buffers(ready.workspace(problem));
  const long before = allocations;
  std::uint64_t bytes = 0;
  const char* name = nullptr;
  sage_status seen = sage_attention_workspace(ready.holder.context, &problem, &bytes, &ready.error);
  seen |= sage_attention_kernel(ready.holder.context, &problem, &name, &ready.error);
  seen |= ready.launch(problem, buffers);
  problem.head_dim = 257;
  const sage_status failed = ready.launch(problem, buffers);
  const long after = allocations;
  CHECK(seen == SAGE_OK);
  CHECK(failed == SAGE_E_HEAD_DIM);
  CHECK(after == before);
  CHECK(before > 0);
}

TEST_CASE("one context serves many threads") {
  Ready ready;
  const sage_attention_problem problem = sample_problem();
  const sage_attention_buffers buffers = sample_buffers(ready.workspace(problem));
  constexpr int per_thread = 200;
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < per_thread; ++i) {
        sage_error error{};
        if (sage_attention_launch(ready.holder.context, &problem, &buffers, nullptr, &error) != SAGE_OK) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(ready.driver.state->launched_total == 4 * per_thread * 4);
}

TEST_CASE("every status has a text of its own") {
  std::set<std::string> texts;
  int known = 0;
  for (sage_status status = 0; status < 200; ++status) {
    const std::string text = sage_status_text(status);
    if (text == "unknown status") continue;
    ++known;
    texts.insert(text);
  }
  CHECK(known == static_cast<int>(texts.size()));
  CHECK(known == 59);
  CHECK(std::string{sage_status_text(-1)} == "unknown status");
}
