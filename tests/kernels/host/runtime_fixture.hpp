// A process with a stand-in driver, and code objects that have every kernel of a family.
#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "device/plan.hpp"
#include "fake_driver.h"
#include "object_specs.hpp"
#include "runtime/mapped_library.hpp"
#include "sage/attention.h"

namespace sage::test {

// Maps a stand-in for its lifetime, the way PyTorch would have mapped the real library.
class FakeDriver {
 public:
  explicit FakeDriver(const char* path) : handle_{dlopen(path, RTLD_NOW | RTLD_LOCAL)} {
    REQUIRE_MESSAGE(handle_ != nullptr, dlerror());
    const auto get = reinterpret_cast<fake_state_function>(dlsym(handle_, "fake_state"));
    state = get();
    std::memset(state, 0, sizeof *state);
    std::strcpy(state->target, "gfx1201");
    state->argument_bytes = sizeof(SageArgs);
    state->major = 9;
  }
  ~FakeDriver() { dlclose(handle_); }
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  fake_state* state = nullptr;

 private:
  void* handle_;
};

inline ObjectSpec gfx1201_spec() {
  return family_spec(device::Family::gfx12, 0x4e, "gfx1201");
}
inline ObjectSpec gfx1100_spec() {
  return family_spec(device::Family::gfx11, 0x41, "gfx1100");
}

// Destroys a context at the end of a scope.
class ContextHolder {
 public:
  ContextHolder() = default;
  ~ContextHolder() { sage_context_destroy(context); }
  ContextHolder(const ContextHolder&) = delete;
  ContextHolder& operator=(const ContextHolder&) = delete;
  sage_context* context = nullptr;
};

inline sage_context_options options_with(const char* path, std::uint32_t api = SAGE_API_AUTO) {
  sage_context_options options{};
  options.struct_size = sizeof options;
  options.version = SAGE_ATTENTION_VERSION;
  options.api = api;
  options.runtime_path = path;
  return options;
}

inline sage_status make_context(const std::vector<Buffer>& files, ContextHolder& holder, sage_error* error,
                                const sage_context_options* options = nullptr) {
  std::vector<sage_object> objects;
  for (const Buffer& file : files) objects.push_back({file.data(), file.size()});
  return sage_context_from_memory(objects.data(), static_cast<std::uint32_t>(objects.size()), options, &holder.context,
                                  error);
}

inline sage_strides contiguous(std::int64_t heads, std::int64_t tokens, std::int64_t dim) {
  return {heads * tokens * dim, tokens * dim, dim, 1};
}

inline sage_attention_problem sample_problem() {
  sage_attention_problem p{};
  p.struct_size = sizeof p;
  p.version = SAGE_ATTENTION_VERSION;
  p.batch = 2;
  p.q_heads = 8;
  p.kv_heads = 4;
  p.q_len = 100;
  p.kv_len = 77;
  p.head_dim = 64;
  p.sm_scale = 0.125F;
  p.flags = SAGE_FLAG_SMOOTH_K;
  p.q = contiguous(p.q_heads, p.q_len, p.head_dim);
  p.k = contiguous(p.kv_heads, p.kv_len, p.head_dim);
  p.v = p.k;
  p.out = p.q;
  return p;
}

// Addresses that nobody reads: the stand-in runs nothing.
inline sage_attention_buffers sample_buffers(std::uint64_t workspace_bytes) {
  const auto address = [](std::uintptr_t value) { return reinterpret_cast<void*>(value); };
  sage_attention_buffers b{};
  b.struct_size = sizeof b;
  b.version = SAGE_ATTENTION_VERSION;
  b.q = address(0x10000);
  b.k = address(0x20000);
  b.v = address(0x30000);
  b.out = address(0x40000);
  b.workspace = address(0x100000);
  b.workspace_size = workspace_bytes;
  return b;
}

}  // namespace sage::test
