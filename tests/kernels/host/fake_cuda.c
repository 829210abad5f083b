/* Stands in for libcuda with its real symbol names. */
#include "fake_driver_common.h"

int cuInit(unsigned flags) {
  (void)flags;
  return state.init_result;
}
int cuCtxGetDevice(int* device) {
  if (state.get_device_result != 0) return state.get_device_result;
  *device = state.device;
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  if (attribute != 75 && attribute != 76) return 1;
  *value = attribute == 75 ? state.major : state.minor;
  return 0;
}
int cuFuncSetAttribute(void* function, int attribute, int value) {
  (void)function;
  if (attribute != 8) return 1;
  ++state.attribute_calls;
  state.attribute_last_value = value;
  return 0;
}
int cuGetErrorString(int result, const char** text) {
  *text = result == 201 ? "invalid device context" : "fake error";
  return 0;
}
int cuModuleLoadData(void** module, const void* image) { return load_module(module, image); }
int cuModuleUnload(void* module) { return unload_module(module); }
int cuModuleGetFunction(void** function, void* module, const char* name) { return get_function(function, module, name); }
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes, void* stream, void** arguments,
                   void** extra) {
  early_launch = 0;
  return launch_kernel(function, gx, gy, gz, bx, by, bz, shared_bytes, stream, arguments, extra);
}
/* As cuda.h has them. */
struct launch_attribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    int allowed;
  } value;
};
struct launch_config {
  unsigned gx, gy, gz, bx, by, bz, shared_bytes;
  void* stream;
  struct launch_attribute* attributes;
  unsigned count;
};
int cuLaunchKernelEx(const struct launch_config* c, void* function, void** arguments, void** extra) {
  early_launch = c->count == 1 && c->attributes[0].id == 6 && c->attributes[0].value.allowed == 1;
  return launch_kernel(function, c->gx, c->gy, c->gz, c->bx, c->by, c->bz, c->shared_bytes, c->stream, arguments, extra);
}
#if !defined(FAKE_CUDA_11)
int cuTensorMapEncodeTiled(void* map, int data_type, unsigned rank, void* base, const unsigned long long* extents, const unsigned long long* strides,
                           const unsigned* box, const unsigned* steps, int interleave, int swizzle, int promotion, int fill) {
  if (state.map_result != 0) return state.map_result;
  struct fake_map* const asked = &state.map;
  asked->data_type = data_type;
  asked->rank = rank;
  asked->base = base;
  memcpy(asked->extents, extents, sizeof asked->extents);
  memcpy(asked->strides, strides, sizeof asked->strides);
  memcpy(asked->box, box, sizeof asked->box);
  memcpy(asked->steps, steps, sizeof asked->steps);
  asked->interleave = interleave;
  asked->swizzle = swizzle;
  asked->promotion = promotion;
  asked->fill = fill;
  asked->aligned = (size_t)map % 64 == 0;
  const unsigned long long number = (unsigned long long)++state.maps;
  memcpy(map, &number, sizeof number);
  return 0;
}
#endif
