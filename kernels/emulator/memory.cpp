#include "memory.hpp"

#include <sys/mman.h>

#include <new>

namespace sage_emulator {
namespace {

constexpr std::uint32_t lane_bits = 8;
constexpr std::uint32_t several = (1U << lane_bits) - 1;

// Whether an access of a wave's lane, in its interval, is over for the observer.
bool over(const std::uint32_t wave, const std::uint32_t lane, const std::uint32_t interval, const Observer& by) {
  return (wave == by.wave && lane == by.lane) || interval < (*by.known)[wave];
}
std::string name_of(const std::size_t waves, const std::uint32_t wave, const std::uint32_t lane) {
  if (wave == waves) return "a bulk copy";
  return "wave " + std::to_string(wave) + (lane == several ? ", several lanes" : ", lane " + std::to_string(lane));
}

}  // namespace

void SharedMemory::reset(const std::size_t bytes, const std::size_t waves) {
  bytes_.assign((bytes + 3) / 4 * 4, 0xff);
  words_.assign(bytes_.size() / 4, Word{});
  waves_ = waves;
  readers_.assign(words_.size() * waves, 0);
}

bool SharedMemory::inside(const std::uint32_t at, const std::uint32_t bytes, const char* what, Report& report) const {
  if (at % (bytes < 16 ? bytes : 16) != 0) {
    report.add(std::string(what) + " of " + std::to_string(bytes) + " bytes at shared offset " + std::to_string(at) + ": misaligned");
  }
  if (std::size_t{at} + bytes <= bytes_.size()) return true;
  report.add(std::string(what) + " at shared offset " + std::to_string(at) + ": outside " + std::to_string(bytes_.size()) + " bytes");
  return false;
}

void SharedMemory::load(const std::uint32_t at, void* to, const std::uint32_t bytes, const Observer& by, Report& report,
                        const std::vector<std::uint32_t>* fences_of) {
  if (!inside(at, bytes, "load", report)) {
    std::memset(to, 0xff, bytes);
    return;
  }
  const std::uint32_t interval = (*by.known)[by.wave];
  for (std::uint32_t w = at / 4; w <= (at + bytes - 1) / 4; ++w) {
    const Word& word = words_[w];
    if (word.interval == 0) {
      report.add("unwritten shared word " + std::to_string(w * 4) + " read by thread " + std::to_string(by.thread));
    } else if (!over(word.wave, word.lane, word.interval, by)) {
      report.add("race on shared word " + std::to_string(w * 4) + ": written by " + name_of(waves_, word.wave, word.lane) +
                 ", read by thread " + std::to_string(by.thread));
    } else if (fences_of != nullptr && word.wave < waves_ && word.fences >= (*fences_of)[word.wave * 32U + word.lane]) {
      report.add("shared word " + std::to_string(w * 4) + " read by the tensor core: its writer made no proxy fence");
    }
    std::uint32_t& reader = readers_[w * waves_ + by.wave];
    const bool others = reader >> lane_bits == interval && (reader & several) != by.lane;
    reader = interval << lane_bits | (others ? several : by.lane);
  }
  std::memcpy(to, bytes_.data() + at, bytes);
}

void SharedMemory::check_store(const std::uint32_t at, const std::uint32_t bytes, const Observer& by, Report& report) const {
  for (std::uint32_t w = at / 4; w <= (at + bytes - 1) / 4; ++w) {
    const Word& word = words_[w];
    if (word.interval != 0 && !over(word.wave, word.lane, word.interval, by)) {
      report.add("race on shared word " + std::to_string(w * 4) + ": written by " + name_of(waves_, word.wave, word.lane) +
                 ", written by thread " + std::to_string(by.thread));
      continue;
    }
    for (std::uint32_t wave = 0; wave < waves_; ++wave) {
      const std::uint32_t reader = readers_[w * waves_ + wave];
      if (reader == 0 || over(wave, reader & several, reader >> lane_bits, by)) continue;
      report.add("race on shared word " + std::to_string(w * 4) + ": read by " + name_of(waves_, wave, reader & several) +
                 ", written by thread " + std::to_string(by.thread));
      break;
    }
  }
}

void SharedMemory::store(const std::uint32_t at, const void* from, const std::uint32_t bytes, const Observer& by, Report& report) {
  if (!inside(at, bytes, "store", report)) return;
  check_store(at, bytes, by, report);
  for (std::uint32_t w = at / 4; w <= (at + bytes - 1) / 4; ++w) {
    words_[w] = {(*by.known)[by.wave], static_cast<std::uint16_t>(by.wave), static_cast<std::uint16_t>(by.lane), by.fences};
  }
  std::memcpy(bytes_.data() + at, from, bytes);
}

void SharedMemory::engine_begin(const std::uint32_t at, const std::uint32_t bytes, const Observer& by, const std::uint32_t copy,
                                Report& report) {
  if (bytes % 16 != 0) report.add("a bulk copy of " + std::to_string(bytes) + " bytes: not a multiple of 16");
  if (!inside(at, bytes, "bulk copy", report)) return;
  check_store(at, bytes, by, report);
  for (std::uint32_t w = at / 4; w < (at + bytes) / 4; ++w) words_[w] = {copy, static_cast<std::uint16_t>(waves_), 0, 0};
  std::memset(bytes_.data() + at, 0xff, bytes);
}

void SharedMemory::engine_land(const std::uint32_t at, const void* from, const std::uint32_t bytes, const std::uint32_t copy,
                               Report& report) {
  if (std::size_t{at} + bytes > bytes_.size()) return;
  for (std::uint32_t w = at / 4; w < (at + bytes) / 4; ++w) {
    if (words_[w].wave == waves_ && words_[w].interval == copy) continue;
    report.add("race on shared word " + std::to_string(w * 4) + ": written while a bulk copy was under way");
    break;
  }
  std::memcpy(bytes_.data() + at, from, bytes);
}

LazyTags::LazyTags(const std::size_t count) : data_(nullptr), count_(count) {
  if (count == 0) return;
  void* const map = mmap(nullptr, count * sizeof(std::uint32_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::uint32_t*>(map);
}

LazyTags::~LazyTags() {
  if (data_ != nullptr) munmap(data_, count_ * sizeof(std::uint32_t));
}

void GlobalMemory::add(std::string name, void* base, const std::size_t bytes, const Access access, const bool written) {
  regions_.push_back(Region{std::move(name), static_cast<unsigned char*>(base), bytes, access, LazyTags((bytes + 1) / 2)});
  if (written) mark_written(base, bytes);
}

GlobalMemory::Region* GlobalMemory::find(const void* at, const std::size_t bytes) {
  const auto* const p = static_cast<const unsigned char*>(at);
  for (std::size_t step = 0; step < regions_.size(); ++step) {
    const std::size_t i = (last_ + step) % regions_.size();
    Region& region = regions_[i];
    const auto begin = reinterpret_cast<std::uintptr_t>(region.base);
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    if (address >= begin && address - begin + bytes <= region.bytes) {
      last_ = i;
      return &region;
    }
  }
  return nullptr;
}

void GlobalMemory::mark_written(const void* base, const std::size_t bytes) {
  Region* const region = find(base, bytes);
  if (region == nullptr) return;
  const auto first = static_cast<std::size_t>(static_cast<const unsigned char*>(base) - region->base);
  for (std::size_t g = first / 2; g < (first + bytes + 1) / 2; ++g) region->tags[g] = 1;
}

bool GlobalMemory::is_written(const void* base, const std::size_t bytes) {
  Region* const region = find(base, bytes);
  if (region == nullptr) return false;
  const auto first = static_cast<std::size_t>(static_cast<const unsigned char*>(base) - region->base);
  for (std::size_t g = first / 2; g < (first + bytes + 1) / 2; ++g) {
    if (region->tags[g] == 0) return false;
  }
  return true;
}

void GlobalMemory::load(const void* at, void* to, const std::size_t bytes, const std::uint32_t thread, Report& report) {
  Region* const region = find(at, bytes);
  if (region == nullptr) {
    report.add("global load of " + std::to_string(bytes) + " bytes outside every region, thread " + std::to_string(thread));
    std::memset(to, 0xff, bytes);
    return;
  }
  const auto first = static_cast<std::size_t>(static_cast<const unsigned char*>(at) - region->base);
  if (reinterpret_cast<std::uintptr_t>(at) % (bytes < 16 ? bytes : 16) != 0) {
    report.add("misaligned global load of " + std::to_string(bytes) + " bytes from " + region->name);
  }
  const std::uint32_t mine = launch_ << 24 | ((thread + 1) & 0xffffffU);
  for (std::size_t g = first / 2; g < (first + bytes + 1) / 2; ++g) {
    const std::uint32_t seen = region->tags[g];
    if (seen == 0) {
      report.add("unwritten byte " + std::to_string(g * 2) + " of " + region->name + " read by thread " + std::to_string(thread));
      break;
    }
    if (seen >> 24 == launch_ && launch_ != 0 && seen != mine) {
      report.add("race on byte " + std::to_string(g * 2) + " of " + region->name + ": written and read in one launch");
      break;
    }
  }
  std::memcpy(to, at, bytes);
}

void GlobalMemory::store(void* at, const void* from, const std::size_t bytes, const std::uint32_t thread, Report& report) {
  Region* const region = find(at, bytes);
  if (region == nullptr) {
    report.add("global store of " + std::to_string(bytes) + " bytes outside every region, thread " + std::to_string(thread));
    return;
  }
  if (region->access == Access::read_only) {
    report.add("global store to read-only " + region->name);
    return;
  }
  if (reinterpret_cast<std::uintptr_t>(at) % (bytes < 16 ? bytes : 16) != 0) {
    report.add("misaligned global store of " + std::to_string(bytes) + " bytes to " + region->name);
  }
  const auto first = static_cast<std::size_t>(static_cast<unsigned char*>(at) - region->base);
  const std::uint32_t mine = launch_ << 24 | ((thread + 1) & 0xffffffU);
  for (std::size_t g = first / 2; g < (first + bytes + 1) / 2; ++g) {
    const std::uint32_t seen = region->tags[g];
    if (seen >> 24 == launch_ && launch_ != 0 && seen != mine) {
      report.add("race on byte " + std::to_string(g * 2) + " of " + region->name + ": written twice in one launch");
      break;
    }
    region->tags[g] = mine;
  }
  std::memcpy(at, from, bytes);
}

}  // namespace sage_emulator
