#include "timer.hpp"

namespace sage::trial {
namespace {

void require(const int result, const char* call) {
  if (result != 0) throw std::runtime_error(std::string(call) + " failed with " + std::to_string(result));
}

template <class F>
void take(const Gpu& gpu, F& function, const char* hip_name, const char* cuda_name) {
  function = reinterpret_cast<F>(gpu.driver_symbol(hip_name, cuda_name));
  if (function == nullptr) throw NoGpu(std::string("the driver library has no ") + (gpu.is_hip() ? hip_name : cuda_name));
}

}  // namespace

GpuTimer::GpuTimer(const Gpu& gpu) {
  take(gpu, create_, "hipEventCreateWithFlags", "cuEventCreate");
  take(gpu, destroy_, "hipEventDestroy", "cuEventDestroy_v2");
  take(gpu, record_, "hipEventRecord", "cuEventRecord");
  take(gpu, wait_, "hipEventSynchronize", "cuEventSynchronize");
  take(gpu, elapsed_, "hipEventElapsedTime", "cuEventElapsedTime");
  take(gpu, fill_, "hipMemsetD8Async", "cuMemsetD8Async");
  take(gpu, copy_, "hipMemcpyDtoDAsync", "cuMemcpyDtoDAsync_v2");
  require(create_(&start_, 0), "making an event");
  require(create_(&stop_, 0), "making an event");
}

GpuTimer::~GpuTimer() {
  destroy_(start_);
  if (stop_ != nullptr) destroy_(stop_);
}

void GpuTimer::fill(void* at, const unsigned char byte, const std::size_t bytes, void* stream) const {
  require(fill_(at, byte, bytes, stream), "filling");
}

void GpuTimer::copy(void* to, const void* from, const std::size_t bytes, void* stream) const {
  require(copy_(to, from, bytes, stream), "copying");
}

void GpuTimer::record(void* event, void* stream) const { require(record_(event, stream), "recording an event"); }

double GpuTimer::elapsed() const {
  require(wait_(stop_), "waiting for an event");
  float milliseconds = 0.0F;
  require(elapsed_(&milliseconds, start_, stop_), "reading the time between two events");
  return static_cast<double>(milliseconds);
}

}  // namespace sage::trial
