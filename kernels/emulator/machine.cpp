#include "machine.hpp"

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>
#include <cstring>
#include <stdexcept>

namespace sage_emulator {
namespace {

namespace context = boost::context::detail;

constexpr std::size_t stack_bytes = 96 * 1024;
constexpr std::size_t poisoned_bytes = 16 * 1024;
constexpr unsigned char stack_canary = 0xcc;

struct Context {
  context::fcontext_t at = nullptr;
};

enum class WaveState { ready, at_barrier, finished };

}  // namespace

struct PendingCopy {
  std::uint32_t to;
  const void* from;
  std::uint32_t bytes;
};

struct Lane {
  Context context;
  Workgroup* group = nullptr;
  int thread = 0;
  int wave = 0;
  bool finished = false;
  std::vector<PendingCopy> pending;
};

namespace {

struct Wave {
  std::vector<Lane*> lanes;
  std::vector<Call> calls;
  std::size_t arrived = 0;
  bool barrier_pending = false;  // the collective in progress is the barrier
  std::size_t finished = 0;
  WaveState state = WaveState::ready;
};

// Memory for the stacks of a workgroup, kept from one launch to the next: fresh pages cost more than the lanes do.
class Stacks {
 public:
  static constexpr std::size_t count = 1024;
  Stacks() {
    void* const map = mmap(nullptr, count * stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<unsigned char*>(map);
  }
  ~Stacks() { munmap(base_, count * stack_bytes); }
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  Stacks(Stacks&&) = delete;
  Stacks& operator=(Stacks&&) = delete;

  // All ones are NaN in every float format used here.
  void* prepare(const std::size_t index) {
    unsigned char* const stack = base_ + index * stack_bytes;
    std::memset(stack + stack_bytes - poisoned_bytes, 0xff, poisoned_bytes);
    std::memset(stack, stack_canary, 64);
    return stack + stack_bytes;
  }
  [[nodiscard]] bool overflowed(const std::size_t index) const {
    for (std::size_t i = 0; i < 64; ++i) {
      if (base_[index * stack_bytes + i] != stack_canary) return true;
    }
    return false;
  }

 private:
  unsigned char* base_ = nullptr;
};

}  // namespace

class Workgroup {
 public:
  Workgroup(const Launch& launch, const std::function<void()>& kernel, GlobalMemory& memory, Report& report, Stacks& stacks,
            SharedMemory& shared)
      : launch_(launch), kernel_(kernel), memory_(memory), report_(report), stacks_(stacks), shared_(shared) {}

  void run(const int id) {
    id_ = id;
    epoch_ = 0;
    stuck_ = false;
    shared_.reset(0);
    shared_allocated_ = false;
    const auto wave_count = static_cast<std::size_t>((launch_.threads + launch_.wave_size - 1) / launch_.wave_size);
    waves_.assign(wave_count, Wave{});
    lanes_.assign(static_cast<std::size_t>(launch_.threads), Lane{});
    for (std::size_t t = 0; t < lanes_.size(); ++t) {
      Lane& lane = lanes_[t];
      lane.group = this;
      lane.thread = static_cast<int>(t);
      lane.wave = static_cast<int>(t) / launch_.wave_size;
      lane.context.at = context::make_fcontext(stacks_.prepare(t), stack_bytes, &Workgroup::enter);
      Wave& wave = waves_[static_cast<std::size_t>(lane.wave)];
      wave.lanes.push_back(&lane);
    }
    for (Wave& wave : waves_) wave.calls.resize(wave.lanes.size());
    run_waves();
    for (std::size_t t = 0; t < lanes_.size(); ++t) {
      if (stacks_.overflowed(t)) throw std::runtime_error("emulated lane overflowed its stack");
    }
  }

  [[nodiscard]] bool stuck() const { return stuck_; }

  static Lane*& current() {
    thread_local Lane* lane = nullptr;
    return lane;
  }

  // The lane has left its operands; returns when the wave has executed the instruction.
  void collective(Lane& lane, const Call& call) {
    Wave& wave = waves_[static_cast<std::size_t>(lane.wave)];
    if (wave.finished != 0) fail(lane, "a lane reached a wave-wide instruction after another lane of its wave had returned");
    const auto slot = static_cast<std::size_t>(lane.thread % launch_.wave_size);
    wave.calls[slot] = call;
    if (++wave.arrived < wave.lanes.size()) {
      switch_to(lane, *wave.lanes[(slot + 1) % wave.lanes.size()]);
      return;
    }
    wave.arrived = 0;
    for (const Call& other : wave.calls) {
      if (other.execute != call.execute) fail(lane, "lanes of one wave reached different wave-wide instructions");
    }
    if (call.execute == nullptr) {
      wave.state = WaveState::at_barrier;
      switch_to_scheduler(lane);
    } else {
      call.execute(wave.calls.data(), static_cast<int>(wave.calls.size()), report_);
    }
  }

  std::uint32_t shared_allocate(Lane& lane, const std::size_t bytes) {
    if (!shared_allocated_) {
      shared_allocated_ = true;
      shared_.reset(bytes);
      if (bytes > launch_.shared_limit) {
        report_.add("the kernel asks for " + std::to_string(bytes) + " bytes of shared memory, the limit is " +
                    std::to_string(launch_.shared_limit));
      }
    } else if ((bytes + 3) / 4 * 4 != shared_.size()) {
      fail(lane, "lanes disagree on the size of shared memory");
    }
    return 0;
  }

  [[noreturn]] void fail(Lane& lane, const std::string& message) {
    report_.add("workgroup " + std::to_string(id_) + ", thread " + std::to_string(lane.thread) + ": " + message);
    stuck_ = true;
    switch_to_scheduler(lane);
    throw std::logic_error("a stuck workgroup was resumed");
  }

  [[nodiscard]] std::uint32_t global_thread(const Lane& lane) const {
    return static_cast<std::uint32_t>(id_) * static_cast<std::uint32_t>(launch_.threads) + static_cast<std::uint32_t>(lane.thread);
  }
  [[nodiscard]] int id() const { return id_; }
  [[nodiscard]] std::uint32_t epoch() const { return epoch_; }
  SharedMemory& shared() { return shared_; }
  GlobalMemory& memory() { return memory_; }
  Report& report() { return report_; }

 private:
  // Every switch passes the context that is being left, so that the one that wakes up can note where it is suspended.
  static void left_behind(const context::transfer_t& from) { static_cast<Context*>(from.data)->at = from.fctx; }

  static void enter(const context::transfer_t from) {
    left_behind(from);
    Lane& lane = *current();
    Workgroup& group = *lane.group;
    group.kernel_();
    lane.finished = true;
    if (!lane.pending.empty()) group.report_.add("a lane returned with asynchronous copies that it never waited for");
    Wave& wave = group.waves_[static_cast<std::size_t>(lane.wave)];
    ++wave.finished;
    if (wave.arrived != 0) group.fail(lane, "a lane returned while others of its wave wait at a wave-wide instruction");
    if (wave.finished < wave.lanes.size()) {
      const auto slot = static_cast<std::size_t>(lane.thread % group.launch_.wave_size);
      group.switch_to(lane, *wave.lanes[(slot + 1) % wave.lanes.size()]);
    } else {
      wave.state = WaveState::finished;
      group.switch_to_scheduler(lane);
    }
  }

  void switch_to(Lane& from, Lane& to) {
    current() = &to;
    left_behind(context::jump_fcontext(to.context.at, &from.context));
  }
  void switch_to_scheduler(Lane& from) { left_behind(context::jump_fcontext(scheduler_.at, &from.context)); }

  void run_waves() {
    while (true) {
      for (std::size_t i = 0; i < waves_.size(); ++i) {
        const std::size_t w = launch_.order == WaveOrder::forward ? i : waves_.size() - 1 - i;
        Wave& wave = waves_[w];
        if (wave.state == WaveState::finished) continue;
        const bool fresh = wave.state == WaveState::ready;
        wave.state = WaveState::ready;
        // After a barrier the lane that arrived last is the one suspended inside the scheduler switch.
        Lane& lane = fresh ? *wave.lanes.front() : *last_at_barrier_[w];
        current() = &lane;
        left_behind(context::jump_fcontext(lane.context.at, &scheduler_));
        if (stuck_) return;
        last_at_barrier_.resize(waves_.size());
        last_at_barrier_[w] = current();
      }
      std::size_t waiting = 0;
      std::size_t finished = 0;
      for (const Wave& wave : waves_) {
        if (wave.state == WaveState::at_barrier) ++waiting;
        if (wave.state == WaveState::finished) ++finished;
      }
      if (finished == waves_.size()) return;
      if (finished != 0) {
        report_.add("workgroup " + std::to_string(id_) + ": " + std::to_string(waiting) + " waves wait at a barrier that " +
                    std::to_string(finished) + " waves never reach");
        stuck_ = true;
        return;
      }
      ++epoch_;
    }
  }

  const Launch& launch_;
  const std::function<void()>& kernel_;
  GlobalMemory& memory_;
  Report& report_;
  Stacks& stacks_;
  SharedMemory& shared_;
  std::vector<Wave> waves_;
  std::vector<Lane> lanes_;
  std::vector<Lane*> last_at_barrier_;
  Context scheduler_;
  int id_ = 0;
  std::uint32_t epoch_ = 0;
  bool stuck_ = false;
  bool shared_allocated_ = false;
};

void run(const Launch& launch, const std::function<void()>& kernel, GlobalMemory& memory, Report& report) {
  if (launch.threads < 1 || launch.threads > 1024) throw std::invalid_argument("a workgroup has 1 to 1024 threads");
  memory.begin_launch();
  thread_local Stacks stacks;
  thread_local SharedMemory shared;
  Workgroup group(launch, kernel, memory, report, stacks, shared);
  for (int id = launch.first_workgroup; id < launch.first_workgroup + launch.grid; ++id) {
    group.run(id);
    if (group.stuck()) return;
  }
}

int thread_id() { return Workgroup::current()->thread; }
int workgroup_id() { return Workgroup::current()->group->id(); }
void collective(const Call& call) {
  Lane& lane = *Workgroup::current();
  lane.group->collective(lane, call);
}
void barrier() { collective(Call{}); }
std::uint32_t shared_allocate(const std::size_t bytes) {
  Lane& lane = *Workgroup::current();
  return lane.group->shared_allocate(lane, bytes);
}
void shared_load_bytes(const std::uint32_t at, void* to, const std::uint32_t bytes) {
  const Lane& lane = *Workgroup::current();
  Workgroup& group = *lane.group;
  group.shared().load(at, to, bytes, static_cast<std::uint32_t>(lane.thread), group.epoch(), group.report());
}
void shared_store_bytes(const std::uint32_t at, const void* from, const std::uint32_t bytes) {
  const Lane& lane = *Workgroup::current();
  Workgroup& group = *lane.group;
  group.shared().store(at, from, bytes, static_cast<std::uint32_t>(lane.thread), group.epoch(), group.report());
}
void global_load_bytes(const void* at, void* to, const std::size_t bytes) {
  const Lane& lane = *Workgroup::current();
  Workgroup& group = *lane.group;
  group.memory().load(at, to, bytes, group.global_thread(lane), group.report());
}
void global_store_bytes(void* at, const void* from, const std::size_t bytes) {
  const Lane& lane = *Workgroup::current();
  Workgroup& group = *lane.group;
  group.memory().store(at, from, bytes, group.global_thread(lane), group.report());
}
void async_copy(const std::uint32_t to, const void* from, const std::uint32_t bytes) {
  static constexpr unsigned char poison[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                               0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  if (bytes > sizeof(poison)) return problem("an asynchronous copy has at most 16 bytes");
  shared_store_bytes(to, poison, bytes);
  Workgroup::current()->pending.push_back({to, from, bytes});
}
void async_wait() {
  std::vector<PendingCopy>& pending = Workgroup::current()->pending;
  for (const PendingCopy& copy : pending) {
    unsigned char data[16];
    global_load_bytes(copy.from, data, copy.bytes);
    shared_store_bytes(copy.to, data, copy.bytes);
  }
  pending.clear();
}
void problem(const std::string& message) { Workgroup::current()->group->report().add(message); }

}  // namespace sage_emulator
