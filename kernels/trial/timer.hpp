// Events of the driver around something on a stream.
#pragma once

#include "gpu.hpp"

namespace sage::trial {

class GpuTimer {
 public:
  // Throws NoGpu where the driver has no events.
  explicit GpuTimer(const Gpu& gpu);
  ~GpuTimer();
  GpuTimer(const GpuTimer&) = delete;
  GpuTimer& operator=(const GpuTimer&) = delete;

  // Milliseconds that what `enqueue` puts on the stream takes there; waits for it.
  template <class Enqueue>
  [[nodiscard]] double time(void* stream, const Enqueue& enqueue) const {
    record(start_, stream);
    enqueue();
    record(stop_, stream);
    return elapsed();
  }

  // Overwrites, or copies, memory on the stream, without waiting.
  void fill(void* at, unsigned char byte, std::size_t bytes, void* stream) const;
  void copy(void* to, const void* from, std::size_t bytes, void* stream) const;

 private:
  void record(void* event, void* stream) const;
  [[nodiscard]] double elapsed() const;

  void* start_ = nullptr;
  void* stop_ = nullptr;
  int (*create_)(void**, unsigned) = nullptr;
  int (*destroy_)(void*) = nullptr;
  int (*record_)(void*, void*) = nullptr;
  int (*wait_)(void*) = nullptr;
  int (*elapsed_)(float*, void*, void*) = nullptr;
  int (*fill_)(void*, unsigned char, std::size_t, void*) = nullptr;
  int (*copy_)(void*, const void*, std::size_t, void*) = nullptr;
};

}  // namespace sage::trial
