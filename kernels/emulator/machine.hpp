// Runs a kernel on the CPU, one fiber per lane.
//
// A GPU wave executes one instruction for all its lanes at once; the kernels' C++ is written per lane. The two meet at the
// wave-collective builtins (matrix instructions, lane exchanges, votes) and at barriers: each lane runs as ordinary code until it
// reaches one, leaves its operands and hands over to the next lane; the last lane to arrive computes the instruction for the whole wave.
// So lanes stay in step exactly where the hardware makes them, and a lane that arrives at a different instruction, or has already
// returned, is an error with a message, not a hang. Waves run one after another to the next barrier, in forward or in reverse order.
//
// A wave that waits for an mbarrier hands over to the others and asks again; when nobody can go on, that is reported.
//
// Stacks are poisoned before a lane starts, shared memory before a workgroup starts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "memory.hpp"
#include "tensor_map.hpp"

namespace sage_emulator {

struct Lane;
class Workgroup;

// Operand and result slots that a lane leaves at a collective instruction.
struct Call {
  void (*execute)(const Call* lanes, int count, Report& report) = nullptr;
  const void* in = nullptr;
  void* out = nullptr;
};

enum class WaveOrder { forward, reverse };

struct Launch {
  int grid = 1;
  int threads = 1;
  int wave_size = 32;
  int first_workgroup = 0;  // runs [first_workgroup, first_workgroup + grid)
  std::size_t shared_limit = 65536;
  WaveOrder order = WaveOrder::forward;
};

// Runs every workgroup; returns when all have finished or one got stuck. All problems land in `report`.
void run(const Launch& launch, const std::function<void()>& kernel, GlobalMemory& memory, Report& report);

// ---- Called from inside a kernel, on a lane's fiber.
[[nodiscard]] int thread_id();
[[nodiscard]] int workgroup_id();
void barrier();
void collective(const Call& call);
[[nodiscard]] std::uint32_t shared_allocate(std::size_t bytes);
void shared_load_bytes(std::uint32_t at, void* to, std::uint32_t bytes);
void shared_store_bytes(std::uint32_t at, const void* from, std::uint32_t bytes);
void global_load_bytes(const void* at, void* to, std::size_t bytes);
void global_store_bytes(void* at, const void* from, std::size_t bytes);
// An asynchronous copy to shared memory may land at any time before the lane waits: the destination counts as written (with poison) when the copy is
// issued, and again, with the data, when it is waited for.
void async_copy(std::uint32_t to, const void* from, std::uint32_t bytes);
void async_wait();
// All lanes of the wave have come here, and what they did before is over for each other.
void wave_barrier();
// mbarrier objects (PTX ISA), by their shared offset. A wait is for the whole wave. Copies land only when somebody waits for them.
void mbarrier_init(std::uint32_t at, std::uint32_t arrivals);
void mbarrier_arrive(std::uint32_t at, std::uint32_t expected_bytes);
void mbarrier_wait(std::uint32_t at, std::uint32_t parity);
void bulk_copy(std::uint32_t to, const void* from, std::uint32_t bytes, std::uint32_t barrier);
void tensor_copy(std::uint32_t to, const TensorMap& map, const int (&first)[4], std::uint32_t barrier);
// What this lane wrote so far is for the tensor core, too, which reads by matrix_load_bytes().
void proxy_fence();
void matrix_load_bytes(std::uint32_t at, void* to, std::uint32_t bytes);
[[nodiscard]] int wave_id();
// What this lane has asked of the tensor core and not waited for.
[[nodiscard]] std::shared_ptr<void>& asynchronous_products();
void problem(const std::string& message);

template <class T>
T shared_load(const std::uint32_t at) {
  T value;
  shared_load_bytes(at, &value, sizeof(T));
  return value;
}
template <class T>
void shared_store(const std::uint32_t at, const T value) {
  shared_store_bytes(at, &value, sizeof(T));
}
template <class T>
T global_load(const void* at) {
  T value;
  global_load_bytes(at, &value, sizeof(T));
  return value;
}
template <class T>
void global_store(void* at, const T value) {
  global_store_bytes(at, &value, sizeof(T));
}

// A collective instruction as a type: In, Out and `static void apply(const In* const* in, Out* const* out, int lanes, Report&)`.
template <class Op>
typename Op::Out collect(const typename Op::In& in) {
  typename Op::Out out;
  Call call;
  call.execute = [](const Call* lanes, const int count, Report& report) {
    const typename Op::In* ins[64] = {};
    typename Op::Out* outs[64] = {};
    for (int l = 0; l < count; ++l) {
      ins[l] = static_cast<const typename Op::In*>(lanes[l].in);
      outs[l] = static_cast<typename Op::Out*>(lanes[l].out);
    }
    Op::apply(ins, outs, count, report);
  };
  call.in = &in;
  call.out = &out;
  collective(call);
  return out;
}

}  // namespace sage_emulator
