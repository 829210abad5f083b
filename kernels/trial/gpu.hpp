// The little of HIP and of the CUDA driver API that a trial needs beside the library under test: memory, streams, graphs.
// Found by name at run time, so that it builds without either SDK. A HIP library may abort or hang: only in a child.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "../include/sage/attention.h"
#include "trial.hpp"

namespace sage::trial {

// There is nothing to try on: no library, no GPU. what() says which.
class NoGpu : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The C functions of the library under test: those that this program was linked with, or those of a file.
struct AttentionLibrary {
  decltype(&sage_context_from_folder) from_folder = nullptr;
  decltype(&sage_context_describe) describe = nullptr;
  decltype(&sage_context_destroy) destroy = nullptr;
  decltype(&sage_attention_workspace) workspace = nullptr;
  decltype(&sage_attention_kernel) kernel = nullptr;
  decltype(&sage_attention_launch) launch = nullptr;
  // Null in a library that is older than they are.
  decltype(&sage_context_gpu_name) gpu_name = nullptr;
  decltype(&sage_context_tuning) tuning = nullptr;
};

// Throws std::runtime_error when the file can't be loaded or lacks a function.
[[nodiscard]] AttentionLibrary load_attention_library(const std::string& path);

// The first GPU. Every failing call throws std::runtime_error with the call's name and result: on a GPU nothing sensible
// follows one.
class Gpu {
 public:
  // `folder` has the code objects. `runtime` is the driver library (libamdhip64 or libcuda) to load; empty: by the usual
  // names. Throws NoGpu, or std::runtime_error with the library's reason.
  Gpu(const AttentionLibrary& library, const std::string& folder, const std::string& runtime);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  // Makes this GPU the calling thread's current device.
  void make_current() const;
  [[nodiscard]] void* allocate(std::size_t bytes) const;
  void release(void* at) const;
  void fill(void* at, unsigned char byte, std::size_t bytes) const;
  void write(void* to, const void* from, std::size_t bytes) const;
  void read(void* to, const void* from, std::size_t bytes) const;
  [[nodiscard]] void* make_stream() const;
  void destroy_stream(void* stream) const;
  void synchronise(void* stream) const;
  // Everything that `enqueue` puts on the stream as a graph, launched `times` times.
  template <class Enqueue>
  void replay(void* stream, const Enqueue& enqueue, int times) const {
    begin_capture(stream);
    enqueue();
    launch_captured(stream, times);
  }

  [[nodiscard]] const AttentionLibrary& library() const { return attention_; }
  [[nodiscard]] const sage_context* context() const { return context_; }
  [[nodiscard]] const std::string& target() const { return target_; }
  [[nodiscard]] const std::string& runtime_path() const { return runtime_path_; }
  [[nodiscard]] unsigned kernel_count() const { return kernel_count_; }
  // The kernel that the library runs for a problem with contiguous tensors; empty: it has none.
  [[nodiscard]] std::string kernel_for(const device::Problem& problem) const;
  // Whether the library would run this very kernel, or one that was chosen by measuring, where this tile is the one for the
  // length of Q.
  [[nodiscard]] bool has_kernel(const device::Tile& tile) const;
  [[nodiscard]] bool is_hip() const { return hip_; }
  // As the library has it; empty where it does not tell.
  [[nodiscard]] std::string name() const { return attention_.gpu_name == nullptr ? "" : attention_.gpu_name(context_); }
  // What became of a tuning.txt; empty: there is none.
  [[nodiscard]] std::string tuning() const { return attention_.tuning == nullptr ? "" : attention_.tuning(context_); }
  // A function of the driver library; nullptr where it has none of that name. A name may be nullptr.
  [[nodiscard]] void* driver_symbol(const char* hip_name, const char* cuda_name) const;

 private:
  template <class F>
  void bind(F& function, const char* hip_name, const char* cuda_name);
  void begin_capture(void* stream) const;
  void launch_captured(void* stream, int times) const;

  AttentionLibrary attention_;
  void* driver_ = nullptr;
  bool hip_ = false;
  void* cuda_context_ = nullptr;
  sage_context* context_ = nullptr;
  std::string target_;
  std::string runtime_path_;
  unsigned kernel_count_ = 0;

  int (*set_device_)(int) = nullptr;      // HIP only
  int (*set_context_)(void*) = nullptr;   // CUDA only
  int (*allocate_)(void**, std::size_t) = nullptr;
  int (*free_)(void*) = nullptr;
  int (*fill_)(void*, unsigned char, std::size_t) = nullptr;
  int (*write_)(void*, const void*, std::size_t) = nullptr;
  int (*read_)(void*, const void*, std::size_t) = nullptr;
  int (*stream_create_)(void**, unsigned) = nullptr;
  int (*stream_destroy_)(void*) = nullptr;
  int (*stream_wait_)(void*) = nullptr;
  int (*begin_capture_)(void*, int) = nullptr;
  int (*end_capture_)(void*, void**) = nullptr;
  int (*graph_launch_)(void*, void*) = nullptr;
  int (*graph_destroy_)(void*) = nullptr;
  int (*graph_exec_destroy_)(void*) = nullptr;
  // hipGraphInstantiate(exec, graph, error node, log, log size) and cuGraphInstantiateWithFlags(exec, graph, flags)
  int (*hip_instantiate_)(void**, void*, void**, char*, std::size_t) = nullptr;
  int (*cuda_instantiate_)(void**, void*, unsigned long long) = nullptr;
};

// Runs through the C ABI. Device::run of every GPU.
Result run_on_gpu(const Device& device, const device::Problem& problem, const Options& options);

// Trials through the C ABI on this GPU, which must outlive the device.
[[nodiscard]] Device device_of(const Gpu& gpu);

}  // namespace sage::trial
