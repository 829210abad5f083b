#include "gpu.hpp"

#include <dlfcn.h>

#include <string_view>
#include <vector>

#include "abi_problem.hpp"

namespace sage::trial {
namespace {

void require(const int result, const char* call) {
  if (result != 0) throw std::runtime_error(std::string(call) + " failed with " + std::to_string(result));
}

std::string loader_words() {
  const char* const words = dlerror();
  return words == nullptr ? "" : words;
}

bool names_hip(const std::string& library) {
  return library.find("amdhip64") != std::string::npos;
}

template <class Function>
void take(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw std::runtime_error(std::string("the library has no ") + name);
}

}  // namespace

AttentionLibrary load_attention_library(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(loader_words());
  AttentionLibrary functions;
  take(library, functions.from_folder, "sage_context_from_folder");
  take(library, functions.describe, "sage_context_describe");
  take(library, functions.destroy, "sage_context_destroy");
  take(library, functions.workspace, "sage_attention_workspace");
  take(library, functions.kernel, "sage_attention_kernel");
  take(library, functions.launch, "sage_attention_launch");
  functions.gpu_name = reinterpret_cast<decltype(functions.gpu_name)>(dlsym(library, "sage_context_gpu_name"));
  functions.tuning = reinterpret_cast<decltype(functions.tuning)>(dlsym(library, "sage_context_tuning"));
  return functions;
}

template <class F>
void Gpu::bind(F& function, const char* hip_name, const char* cuda_name) {
  const char* const name = hip_ ? hip_name : cuda_name;
  if (name == nullptr) return;
  function = reinterpret_cast<F>(dlsym(driver_, name));
  if (function == nullptr) throw NoGpu(std::string("the driver library has no ") + name);
}

Gpu::Gpu(const AttentionLibrary& library, const std::string& folder, const std::string& runtime) : attention_(library) {
  std::vector<std::string> names = {runtime};
  if (runtime.empty()) names = {"libcuda.so.1", "libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"};
  std::string reason;
  for (const std::string& name : names) {
    driver_ = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
    hip_ = names_hip(name);
    if (driver_ != nullptr) break;
    reason = loader_words();
  }
  if (driver_ == nullptr) {
    throw NoGpu(runtime.empty() ? "neither libcuda.so.1 nor libamdhip64.so can be loaded" : reason);
  }

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
  if (const int result = init(0); result != 0) throw NoGpu("the driver finds no GPU (" + std::to_string(result) + ")");
  if (!hip_) {
    int (*retain)(void**, int) = nullptr;
    bind(retain, nullptr, "cuDevicePrimaryCtxRetain");
    require(retain(&cuda_context_, 0), "cuDevicePrimaryCtxRetain");
  }
  make_current();

  sage_error error{};
  if (attention_.from_folder(folder.c_str(), nullptr, &context_, &error) != SAGE_OK) {
    throw std::runtime_error(folder + ": " + error.text);
  }
  sage_context_info info{};
  require(attention_.describe(context_, &info, &error), "sage_context_describe");
  target_ = info.target;
  runtime_path_ = info.runtime_path;
  kernel_count_ = info.kernel_count;
}

Gpu::~Gpu() {
  attention_.destroy(context_);
}

void* Gpu::driver_symbol(const char* hip_name, const char* cuda_name) const {
  const char* const name = hip_ ? hip_name : cuda_name;
  return name == nullptr ? nullptr : dlsym(driver_, name);
}

std::string Gpu::kernel_for(const device::Problem& problem) const {
  const auto strides = [&](const std::int64_t heads, const std::int64_t tokens) {
    const std::int64_t dim = problem.head_dim;
    return SageStrides{heads * tokens * dim, tokens * dim, dim, 1};
  };
  const SageStrides q = strides(problem.q_heads, problem.q_len);
  const SageStrides kv = strides(problem.kv_heads, problem.kv_len);
  const sage_attention_problem asked = abi_problem(problem, 1.0, q, kv, kv, q);
  const char* name = nullptr;
  sage_error error{};
  return attention_.kernel(context_, &asked, &name, &error) == SAGE_OK ? name : "";
}

bool Gpu::has_kernel(const device::Tile& tile) const {
  device::Problem problem;
  problem.q_len = tile.length == device::Length::long_q ? device::fewest_long_queries(tile.family, tile.dp) : 1;
  problem.kv_len = 1;
  problem.head_dim = tile.dp;
  problem.pv = tile.pv;
  const std::string name = kernel_for(problem);
  return name == tile.kernel || (!name.empty() && !tuning().empty());
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

void Gpu::release(void* at) const { free_(at); }
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

}  // namespace sage::trial
