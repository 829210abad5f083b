// The little of HIP and of the CUDA driver API that a test needs beside the library under test: memory, streams, graphs.
// Loaded by name at run time, so that the test builds without either SDK.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../../../kernels/include/sage/attention.h"

namespace sage::test {

// Opened once; exits with 77 (skipped) where there is no library or no GPU. Every failing call ends the program with the
// call's name and result: on a GPU nothing sensible follows one.
class Gpu {
 public:
  static const Gpu& instance();

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

  // The context of the library under test, of the code objects in the folder that SAGE_CODE_OBJECTS names.
  [[nodiscard]] const sage_context* context() const { return context_; }
  [[nodiscard]] const std::string& target() const { return target_; }
  [[nodiscard]] bool is_hip() const { return hip_; }

 private:
  Gpu();
  template <class F>
  void bind(F& function, const char* hip_name, const char* cuda_name);
  void begin_capture(void* stream) const;
  void launch_captured(void* stream, int times) const;

  void* library_ = nullptr;
  bool hip_ = false;
  void* cuda_context_ = nullptr;
  sage_context* context_ = nullptr;
  std::string target_;

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

}  // namespace sage::test
