/* Stands in for libamdhip64 with its real symbol names. FAKE_HIP_ARCH_AT is where hipDeviceProp_t has the target's name. */
#include "fake_driver_common.h"

int hipGetDevice(int* device) {
  if (state.get_device_result != 0) return state.get_device_result;
  *device = state.device;
  return 0;
}

static int properties_at(void* properties, unsigned position, unsigned size) {
  if (state.properties_result != 0) return state.properties_result;
  memset(properties, 0, size);
  memcpy(properties, "Fake GPU", 8);
  memcpy((char*)properties + position, state.target, sizeof state.target);
  return 0;
}

/* ROCm 6 and later keep the old function for old programs: both exist, with different structures. */
int hipGetDeviceProperties(void* properties, int device) {
  (void)device;
  return properties_at(properties, 396, 792);
}
#ifdef FAKE_HIP_R0600
int hipGetDevicePropertiesR0600(void* properties, int device) {
  (void)device;
  return properties_at(properties, 1160, 1472);
}
#endif

const char* hipGetErrorString(int result) { return result == 100 ? "no ROCm-capable device is detected" : "fake\x01 error"; }
int hipModuleLoadData(void** module, const void* image) { return load_module(module, image); }
int hipModuleUnload(void* module) { return unload_module(module); }
int hipModuleGetFunction(void** function, void* module, const char* name) { return get_function(function, module, name); }
#ifndef FAKE_HIP_INCOMPLETE
int hipModuleLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes, void* stream,
                          void** arguments, void** extra) {
  return launch_kernel(function, gx, gy, gz, bx, by, bz, shared_bytes, stream, arguments, extra);
}
#endif
