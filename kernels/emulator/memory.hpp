// Shadow memory: what every byte of shared and global memory has seen.
//
// Shared memory keeps, per 4-byte word, the last writer and each wave's last read. A wave's life is cut into intervals by whatever makes its
// lanes wait for each other, and every wave knows how many intervals of each other wave are over for it: barriers and mbarriers pass that
// knowledge on. An access is sound when the accesses before it, one of the two writing, lie in intervals that are known to be over; all others
// are races, whatever order the emulator happened to run them in. Global memory keeps, per 2-byte granule, whether it was written and by which
// thread of which launch: inside one launch no thread may read or write what another one wrote. Reads of bytes never written and accesses
// outside the registered regions are reported too. Nothing here depends on timing, so a report is the same in every run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace sage_emulator {

// Problems found, capped; counts everything.
struct Report {
  std::vector<std::string> messages;
  std::size_t count = 0;
  void add(std::string message) {
    ++count;
    if (messages.size() < 20) messages.push_back(std::move(message));
  }
  [[nodiscard]] bool clean() const { return count == 0; }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const std::string& message : messages) all += message + "\n";
    return all;
  }
};

// Per wave, and behind the waves for the copy engine: intervals below this number are over.
using Clock = std::vector<std::uint32_t>;
inline void join(Clock& to, const Clock& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = to[i] > from[i] ? to[i] : from[i];
}

// A lane that accesses memory. `known` is its wave's clock, whose own entry is the running interval. `fences`: how often this lane has made its
// writes known to the asynchronous units.
struct Observer {
  std::uint32_t thread;
  std::uint32_t wave;
  std::uint32_t lane;
  std::uint32_t fences;
  const Clock* known;
};

class SharedMemory {
 public:
  // A fresh workgroup: contents poisoned, nothing written.
  void reset(std::size_t bytes, std::size_t waves = 0);
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

  // `fences_of`: where the reader is the tensor core, how often each thread has fenced by now; ordinary writes before a fence are not for it.
  void load(std::uint32_t at, void* to, std::uint32_t bytes, const Observer& by, Report& report,
            const std::vector<std::uint32_t>* fences_of = nullptr);
  void store(std::uint32_t at, const void* from, std::uint32_t bytes, const Observer& by, Report& report);
  // The copy engine in two steps: from the request on, the bytes are poison that nobody may touch; then they are there.
  void engine_begin(std::uint32_t at, std::uint32_t bytes, const Observer& by, std::uint32_t copy, Report& report);
  void engine_land(std::uint32_t at, const void* from, std::uint32_t bytes, std::uint32_t copy, Report& report);

 private:
  struct Word {
    std::uint32_t interval = 0;  // of the writer; 0: never written
    std::uint16_t wave = 0;
    std::uint16_t lane = 0;
    std::uint32_t fences = 0;
  };
  bool inside(std::uint32_t at, std::uint32_t bytes, const char* what, Report& report) const;
  void check_store(std::uint32_t at, std::uint32_t bytes, const Observer& by, Report& report) const;
  std::vector<unsigned char> bytes_;
  std::vector<Word> words_;
  std::size_t waves_ = 0;
  std::vector<std::uint32_t> readers_;  // per word and wave: interval and lane; 0: never read
};

// A zero-filled, lazily mapped array: a shadow of a huge sparse region costs only the pages touched.
class LazyTags {
 public:
  explicit LazyTags(std::size_t count);
  ~LazyTags();
  LazyTags(LazyTags&& other) noexcept : data_(other.data_), count_(other.count_) {
    other.data_ = nullptr;
    other.count_ = 0;
  }
  LazyTags(const LazyTags&) = delete;
  LazyTags& operator=(const LazyTags&) = delete;
  LazyTags& operator=(LazyTags&&) = delete;
  std::uint32_t& operator[](std::size_t i) { return data_[i]; }

 private:
  std::uint32_t* data_;
  std::size_t count_;
};

class GlobalMemory {
 public:
  enum class Access { read_only, read_write };
  // Registers caller-owned memory. `written`: its contents count as initialised.
  void add(std::string name, void* base, std::size_t bytes, Access access, bool written);
  void mark_written(const void* base, std::size_t bytes);
  void begin_launch() { launch_ = launch_ % 255 + 1; }

  void load(const void* at, void* to, std::size_t bytes, std::uint32_t thread, Report& report);
  void store(void* at, const void* from, std::size_t bytes, std::uint32_t thread, Report& report);
  // True when every granule of the range has been written.
  [[nodiscard]] bool is_written(const void* base, std::size_t bytes);

 private:
  struct Region {
    std::string name;
    unsigned char* base;
    std::size_t bytes;
    Access access;
    LazyTags tags;
  };
  Region* find(const void* at, std::size_t bytes);
  // Tag: 0 unwritten; low 24 bits thread (modulo), high 8 bits launch; launch 0 with thread 1: before any launch.
  std::vector<Region> regions_;
  std::size_t last_ = 0;
  std::uint32_t launch_ = 0;
};

}  // namespace sage_emulator
