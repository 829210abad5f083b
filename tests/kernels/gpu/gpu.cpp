#include "gpu.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace sage::test {
namespace {

constexpr int skipped = 77;

[[noreturn]] void skip(const std::string& why) {
  std::printf("skipped: %s\n", why.c_str());
  std::exit(skipped);
}

void require(const int result, const char* call) {
  if (result == 0) return;
  std::fprintf(stderr, "%s failed with %d\n", call, result);
  std::exit(1);
}

}  // namespace

const Gpu& Gpu::instance() {
  static const Gpu gpu;
  return gpu;
}

template <class F>
void Gpu::bind(F& function, const char* hip_name, const char* cuda_name) {
  const char* const name = hip_ ? hip_name : cuda_name;
  if (name == nullptr) return;
  function = reinterpret_cast<F>(dlsym(library_, name));
  if (function == nullptr) skip(std::string("the driver library has no ") + name);
}

Gpu::Gpu() {
  const char* const folder = std::getenv("SAGE_CODE_OBJECTS");
  if (folder == nullptr) skip("SAGE_CODE_OBJECTS names no folder of code objects");
  for (const char* const name : {"libcuda.so.1", "libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"}) {
    library_ = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    hip_ = std::string(name).find("hip") != std::string::npos;
    if (library_ != nullptr) break;
  }
  if (library_ == nullptr) skip("neither libcuda.so.1 nor libamdhip64.so can be loaded");

  bind(allocate_, "hipMalloc", "cuMemAlloc_v2");
  bind(free_, "hipFree", "cuMemFree_v2");
  bind(fill_, "hipMemsetD8", "cuMemsetD8_v2");
  bind(write_, "hipMemcpyHtoD", "cuMemcpyHtoD_v2");
  bind(read_, "hipMemcpyDtoH", "cuMemcpyDtoH_v2");
  bind(stream_create_, "hipStreamCreateWithFlags", "cuStreamCreate");
  bind(stream_destroy_, "hipStreamDestroy", "cuStreamDestroy_v2");
  bind(stream_wait_, "hipStreamSynchronize", "cuStreamSynchronize");
  bind(begin_capture_, "hipStreamBeginCapture", "cuStreamBeginCapture_v2");
  bind(end_capture_, "hipStreamEndCapture", "cuStreamEndCapture");
  bind(graph_launch_, "hipGraphLaunch", "cuGraphLaunch");
  bind(graph_destroy_, "hipGraphDestroy", "cuGraphDestroy");
  bind(graph_exec_destroy_, "hipGraphExecDestroy", "cuGraphExecDestroy");
  bind(hip_instantiate_, "hipGraphInstantiate", nullptr);
  bind(cuda_instantiate_, nullptr, "cuGraphInstantiateWithFlags");
  bind(set_device_, "hipSetDevice", nullptr);
  bind(set_context_, nullptr, "cuCtxSetCurrent");

  int (*init)(unsigned) = nullptr;
  bind(init, "hipInit", "cuInit");
  if (const int result = init(0); result != 0) skip("the driver finds no GPU (" + std::to_string(result) + ")");
  if (!hip_) {
    int (*retain)(void**, int) = nullptr;
    bind(retain, nullptr, "cuDevicePrimaryCtxRetain");
    require(retain(&cuda_context_, 0), "cuDevicePrimaryCtxRetain");
  }
  make_current();

  sage_error error{};
  if (sage_context_from_folder(folder, nullptr, &context_, &error) != SAGE_OK) {
    std::fprintf(stderr, "%s: %s\n", folder, error.text);
    std::exit(1);
  }
  sage_context_info info{};
  require(sage_context_describe(context_, &info, &error), "sage_context_describe");
  target_ = info.target;
  std::printf("%s, %u attention kernels, %s\n", info.target, info.kernel_count, info.runtime_path);
}

void Gpu::make_current() const {
  if (hip_) {
    require(set_device_(0), "hipSetDevice");
  } else {
    require(set_context_(cuda_context_), "cuCtxSetCurrent");
  }
}

void* Gpu::allocate(const std::size_t bytes) const {
  void* at = nullptr;
  require(allocate_(&at, bytes), "allocating");
  return at;
}

void Gpu::release(void* at) const { require(free_(at), "freeing"); }
void Gpu::fill(void* at, const unsigned char byte, const std::size_t bytes) const { require(fill_(at, byte, bytes), "filling"); }
void Gpu::write(void* to, const void* from, const std::size_t bytes) const { require(write_(to, from, bytes), "writing"); }
void Gpu::read(void* to, const void* from, const std::size_t bytes) const { require(read_(to, from, bytes), "reading"); }

void* Gpu::make_stream() const {
  constexpr unsigned non_blocking = 1;
  void* stream = nullptr;
  require(stream_create_(&stream, non_blocking), "making a stream");
  return stream;
}

void Gpu::destroy_stream(void* stream) const { require(stream_destroy_(stream), "destroying a stream"); }
void Gpu::synchronise(void* stream) const { require(stream_wait_(stream), "waiting for a stream"); }

void Gpu::begin_capture(void* stream) const {
  constexpr int thread_local_mode = 1;
  require(begin_capture_(stream, thread_local_mode), "beginning a capture");
}

void Gpu::launch_captured(void* stream, const int times) const {
  void* graph = nullptr;
  void* runnable = nullptr;
  require(end_capture_(stream, &graph), "ending a capture");
  require(hip_ ? hip_instantiate_(&runnable, graph, nullptr, nullptr, 0) : cuda_instantiate_(&runnable, graph, 0),
          "instantiating a graph");
  for (int i = 0; i < times; ++i) require(graph_launch_(runnable, stream), "launching a graph");
  synchronise(stream);
  require(graph_exec_destroy_(runnable), "destroying a graph");
  require(graph_destroy_(graph), "destroying a graph");
}

}  // namespace sage::test
