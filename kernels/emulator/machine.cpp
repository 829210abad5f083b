#include "machine.hpp"

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>
#include <algorithm>
#include <cstring>
#include <map>
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

enum class WaveState { ready, waiting, at_barrier, finished };

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
  std::uint32_t fences = 0;
  std::shared_ptr<void> products;
};

namespace {

struct Mbarrier {
  std::uint32_t count = 0;
  std::uint32_t missing = 0;  // arrivals of the running phase
  std::int64_t bytes = 0;     // announced and not there
  std::uint32_t phase = 0;
  Clock arrived;   // what those who arrived so far know
  Clock complete;  // the same at the end of the last phase
};

struct BulkCopy {
  std::uint32_t to;
  BoxCopy what;
  std::uint32_t barrier;
  std::uint32_t thread;  // in the grid
  std::uint32_t number;
};

struct Wave {
  std::vector<Lane*> lanes;
  std::vector<Call> calls;
  std::size_t arrived = 0;
  bool barrier_pending = false;  // the collective in progress is the barrier
  std::size_t finished = 0;
  WaveState state = WaveState::ready;
  Lane* resume = nullptr;  // the lane that is suspended in the scheduler's favour
  Clock known;
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
    stuck_ = false;
    events_ = 0;
    copies_ = 0;
    barriers_.clear();
    bulk_.clear();
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
    fences_.assign(std::max<std::size_t>(lanes_.size(), waves_.size() * 32), 0);
    for (Wave& wave : waves_) {
      wave.calls.resize(wave.lanes.size());
      wave.resume = wave.lanes.front();
      wave.known.assign(wave_count + 1, 1);
    }
    run_waves();
    if (!stuck_ && !bulk_.empty()) report_.add("a workgroup ended with bulk copies that nobody waited for");
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
      shared_.reset(bytes, waves_.size());
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
  [[nodiscard]] Observer observer(const Lane& lane) const {
    const auto wave = static_cast<std::uint32_t>(lane.wave);
    return {static_cast<std::uint32_t>(lane.thread), wave, static_cast<std::uint32_t>(lane.thread % launch_.wave_size), lane.fences,
            &waves_[wave].known};
  }
  [[nodiscard]] const std::vector<std::uint32_t>& fences() const { return fences_; }
  void fence(Lane& lane) { fences_[static_cast<std::size_t>(lane.wave * 32 + lane.thread % launch_.wave_size)] = ++lane.fences; }
  void end_interval(const Lane& lane) {
    const auto wave = static_cast<std::size_t>(lane.wave);
    ++waves_[wave].known[wave];
  }
  // Hands over to the other waves.
  void yield(Lane& lane) {
    waves_[static_cast<std::size_t>(lane.wave)].state = WaveState::waiting;
    switch_to_scheduler(lane);
  }

  void mbarrier_init(Lane& lane, const std::uint32_t at, const std::uint32_t arrivals) {
    constexpr std::uint64_t nothing = 0;
    shared_.store(at, &nothing, 8, observer(lane), report_);
    Mbarrier& barrier = barriers_[at];
    barrier = {arrivals, arrivals, 0, 0, Clock(waves_.size() + 1, 0), Clock(waves_.size() + 1, 0)};
  }
  void mbarrier_arrive(Lane& lane, const std::uint32_t at, const std::uint32_t expected_bytes) {
    Mbarrier* const barrier = mbarrier_at(lane, at);
    if (barrier == nullptr) return;
    if (barrier->missing == 0) report_.add("more arrivals at an mbarrier than it was made for");
    barrier->bytes += expected_bytes;
    if (barrier->missing > 0) --barrier->missing;
    join(barrier->arrived, waves_[static_cast<std::size_t>(lane.wave)].known);
    complete(*barrier);
  }
  // Whether the phase of this parity is over; then its waves' work is, too, for the one that asks.
  bool mbarrier_test(Lane& lane, const std::uint32_t at, const std::uint32_t parity) {
    Mbarrier* const barrier = mbarrier_at(lane, at);
    if (barrier == nullptr) return true;
    if ((barrier->phase & 1U) == parity) land(at);
    if ((barrier->phase & 1U) == parity) return false;
    const auto wave = static_cast<std::size_t>(lane.wave);
    const std::uint32_t own = waves_[wave].known[wave];
    join(waves_[wave].known, barrier->complete);
    waves_[wave].known[wave] = own;
    return true;
  }
  void engine_copy(Lane& lane, const std::uint32_t to, const BoxCopy& what, const std::uint32_t barrier) {
    if (mbarrier_at(lane, barrier) == nullptr) return;
    shared_.engine_begin(to, what.bytes, observer(lane), ++copies_, report_);
    bulk_.push_back({to, what, barrier, global_thread(lane), copies_});
  }
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
    if (lane.products != nullptr) group.report_.add("a lane returned with products that it never waited for");
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

  Mbarrier* mbarrier_at(const Lane& lane, const std::uint32_t at) {
    std::uint64_t word = 0;
    shared_.load(at, &word, 8, observer(lane), report_);  // unwritten, or a race with whoever initialises it
    const auto found = barriers_.find(at);
    if (found != barriers_.end()) return &found->second;
    report_.add("no mbarrier at shared offset " + std::to_string(at));
    return nullptr;
  }
  void complete(Mbarrier& barrier) {
    ++events_;
    if (barrier.missing != 0 || barrier.bytes != 0) return;
    barrier.missing = barrier.count;
    ++barrier.phase;
    barrier.complete = barrier.arrived;
  }
  void land(const std::uint32_t at) {
    Mbarrier& barrier = barriers_[at];
    std::vector<BulkCopy> left;
    for (const BulkCopy& copy : bulk_) {
      if (copy.barrier != at) {
        left.push_back(copy);
        continue;
      }
      std::vector<unsigned char> data(copy.what.bytes);
      for (const CopyPiece& piece : copy.what.pieces) memory_.load(piece.from, data.data() + piece.to, piece.bytes, copy.thread, report_);
      shared_.engine_land(copy.to, data.data(), copy.what.bytes, copy.number, report_);
      barrier.arrived.back() = std::max(barrier.arrived.back(), copy.number + 1);
      barrier.bytes -= copy.what.bytes;
    }
    if (left.size() == bulk_.size()) return;
    bulk_ = left;
    complete(barrier);
  }

  void run_waves() {
    while (true) {
      const std::uint64_t before = events_;
      for (std::size_t i = 0; i < waves_.size(); ++i) {
        const std::size_t w = launch_.order == WaveOrder::forward ? i : waves_.size() - 1 - i;
        Wave& wave = waves_[w];
        if (wave.state == WaveState::finished || wave.state == WaveState::at_barrier) continue;
        wave.state = WaveState::ready;
        Lane& lane = *wave.resume;
        current() = &lane;
        left_behind(context::jump_fcontext(lane.context.at, &scheduler_));
        if (stuck_) return;
        // The lane that arrived last is the one suspended inside the scheduler switch.
        wave.resume = current();
        if (wave.state != WaveState::waiting) ++events_;
      }
      std::size_t at_barrier = 0;
      std::size_t finished = 0;
      for (const Wave& wave : waves_) {
        if (wave.state == WaveState::at_barrier) ++at_barrier;
        if (wave.state == WaveState::finished) ++finished;
      }
      if (finished == waves_.size()) return;
      if (at_barrier + finished == waves_.size() && finished != 0) {
        report_.add("workgroup " + std::to_string(id_) + ": " + std::to_string(at_barrier) + " waves wait at a barrier that " +
                    std::to_string(finished) + " waves never reach");
        stuck_ = true;
        return;
      }
      if (at_barrier == waves_.size()) {
        pass_barrier();
      } else if (events_ == before) {
        report_.add("workgroup " + std::to_string(id_) + ": waves wait for an mbarrier that nobody completes");
        stuck_ = true;
        return;
      }
    }
  }
  void pass_barrier() {
    Clock all = waves_.front().known;
    for (std::size_t w = 0; w < waves_.size(); ++w) {
      ++waves_[w].known[w];
      join(all, waves_[w].known);
    }
    for (Wave& wave : waves_) {
      wave.known = all;
      wave.state = WaveState::ready;
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
  std::vector<std::uint32_t> fences_;  // by wave * 32 + lane
  std::map<std::uint32_t, Mbarrier> barriers_;
  std::vector<BulkCopy> bulk_;
  std::uint64_t events_ = 0;  // something happened that a waiting wave may have waited for
  std::uint32_t copies_ = 0;
  Context scheduler_;
  int id_ = 0;
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
  group.shared().load(at, to, bytes, group.observer(lane), group.report());
}
void shared_store_bytes(const std::uint32_t at, const void* from, const std::uint32_t bytes) {
  const Lane& lane = *Workgroup::current();
  Workgroup& group = *lane.group;
  group.shared().store(at, from, bytes, group.observer(lane), group.report());
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
namespace {
struct WaveBarrier {
  using In = int;
  using Out = int;
  static void apply(const In* const*, Out* const*, int, Report&) {
    Lane& lane = *Workgroup::current();
    lane.group->end_interval(lane);
  }
};
struct MbarrierTest {
  struct In {
    std::uint32_t at;
    std::uint32_t parity;
  };
  using Out = bool;
  static void apply(const In* const* in, Out* const* out, const int count, Report&) {
    Lane& lane = *Workgroup::current();
    const bool done = lane.group->mbarrier_test(lane, in[0]->at, in[0]->parity);
    for (int l = 0; l < count; ++l) {
      if (in[l]->at != in[0]->at || in[l]->parity != in[0]->parity) problem("lanes of a wave wait for different mbarriers");
      *out[l] = done;
    }
  }
};
struct Yield {
  using In = int;
  using Out = int;
  static void apply(const In* const*, Out* const*, int, Report&) {
    Lane& lane = *Workgroup::current();
    lane.group->yield(lane);
  }
};
}  // namespace
void wave_barrier() { (void)collect<WaveBarrier>(0); }
void mbarrier_init(const std::uint32_t at, const std::uint32_t arrivals) {
  Lane& lane = *Workgroup::current();
  lane.group->mbarrier_init(lane, at, arrivals);
}
void mbarrier_arrive(const std::uint32_t at, const std::uint32_t expected_bytes) {
  Lane& lane = *Workgroup::current();
  lane.group->mbarrier_arrive(lane, at, expected_bytes);
}
void mbarrier_wait(const std::uint32_t at, const std::uint32_t parity) {
  while (!collect<MbarrierTest>({at, parity})) (void)collect<Yield>(0);
}
void bulk_copy(const std::uint32_t to, const void* from, const std::uint32_t bytes, const std::uint32_t barrier) {
  Lane& lane = *Workgroup::current();
  lane.group->engine_copy(lane, to, {bytes, {{0, from, bytes}}}, barrier);
}
void tensor_copy(const std::uint32_t to, const TensorMap& map, const int (&first)[4], const std::uint32_t barrier) {
  // From there on the swizzle is that of the address: box_copy() knows it only relative to the destination.
  if (to % (8 * map.swizzle_bytes) != 0) problem("a swizzled box at a shared offset that is no multiple of eight rows");
  Lane& lane = *Workgroup::current();
  lane.group->engine_copy(lane, to, box_copy(map, first), barrier);
}
void proxy_fence() {
  Lane& lane = *Workgroup::current();
  lane.group->fence(lane);
}
void matrix_load_bytes(const std::uint32_t at, void* to, const std::uint32_t bytes) {
  Lane& lane = *Workgroup::current();
  Workgroup& group = *lane.group;
  group.shared().load(at, to, bytes, group.observer(lane), group.report(), &group.fences());
}
int wave_id() { return Workgroup::current()->wave; }
std::shared_ptr<void>& asynchronous_products() { return Workgroup::current()->products; }
void problem(const std::string& message) { Workgroup::current()->group->report().add(message); }

}  // namespace sage_emulator
