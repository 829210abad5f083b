// The few functions of HIP and of the CUDA driver API that are used, declared by hand so that neither SDK is needed to
// build. Both APIs give these functions the same shape: handles are pointers, results are 32-bit enumerations whose
// success value is 0. A test compares every declaration with the real header of HIP where that is installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sage::runtime {

using DriverResult = int;  // hipError_t, CUresult
using Module = void*;      // hipModule_t, CUmodule
using Function = void*;    // hipFunction_t, CUfunction
using Stream = void*;      // hipStream_t, CUstream

using ModuleLoadData = DriverResult (*)(Module*, const void*);
using ModuleUnload = DriverResult (*)(Module);
using ModuleGetFunction = DriverResult (*)(Function*, Module, const char*);
using LaunchKernel = DriverResult (*)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                      unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream,
                                      void** arguments, void** extra);
// CUlaunchAttribute and CUlaunchConfig of cuda.h 11.8 and later.
struct CudaLaunchAttribute {
  static constexpr int programmatic_stream_serialization = 6;
  int id;
  int padding;
  int value;  // of a union of 64 bytes
  char rest[60];
};
struct CudaLaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  Stream stream;
  CudaLaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(CudaLaunchAttribute) == 72 && sizeof(CudaLaunchConfig) == 56);
using CuLaunchKernelEx = DriverResult (*)(const CudaLaunchConfig*, Function, void** arguments, void** extra);
// cuTensorMapEncodeTiled of cuda.h 12.0 and later. The map is 128 bytes at a boundary of 64; the enumerations are those of the names here.
struct CudaTensorMap {
  static constexpr int uint16 = 1;       // CU_TENSOR_MAP_DATA_TYPE_UINT16
  static constexpr int swizzle_64b = 2;  // CU_TENSOR_MAP_SWIZZLE_64B
  static constexpr int swizzle_128b = 3;
  static constexpr int l2_promotion_256b = 3;  // CU_TENSOR_MAP_L2_PROMOTION_L2_256B
};
using CuTensorMapEncodeTiled = DriverResult (*)(void* map, int data_type, unsigned rank, void* base, const std::uint64_t* extents,
                                                const std::uint64_t* strides, const std::uint32_t* box,
                                                const std::uint32_t* element_strides, int interleave, int swizzle, int l2_promotion,
                                                int fill);
using GetDevice = DriverResult (*)(int*);                     // hipGetDevice, cuCtxGetDevice
using HipGetDeviceProperties = DriverResult (*)(void*, int);  // two layouts, see below
using HipGetErrorString = const char* (*)(DriverResult);
using CuInit = DriverResult (*)(unsigned);
using CuDeviceGetAttribute = DriverResult (*)(int*, int attribute, int device);
using CuFuncSetAttribute = DriverResult (*)(Function, int attribute, int value);
using CuDeviceGetName = DriverResult (*)(char*, int bytes, int device);
using CuGetErrorString = DriverResult (*)(DriverResult, const char**);

// hipDeviceProp_t changed with ROCm 6. A library of that age or newer exports hipGetDevicePropertiesR0600 for the new
// form and keeps hipGetDeviceProperties for programs built before. Only two fields are read, out of a buffer larger than
// either: the GPU's name, with which both begin, and that of its target. Sizes and positions are those of the headers of HIP 5.2.3 and 7.1.
struct HipProperties {
  static constexpr std::size_t buffer_bytes = 4096;
  static constexpr std::size_t name_bytes = 256;
  static constexpr std::size_t arch_name_bytes = 256;
  static constexpr std::size_t arch_name_r0000 = 396;
  static constexpr std::size_t size_r0000 = 792;
  static constexpr std::size_t arch_name_r0600 = 1160;
  static constexpr std::size_t size_r0600 = 1472;
};

struct HipResult {
  static constexpr DriverResult no_device = 100;
  static constexpr DriverResult invalid_device = 101;  // HIP 5.2.3 says this from hipGetDevice where there is no GPU
};

struct CudaResult {
  static constexpr DriverResult not_initialized = 3;
  static constexpr DriverResult no_device = 100;
  static constexpr DriverResult invalid_context = 201;
};

struct CudaAttribute {
  static constexpr int compute_capability_major = 75;
  static constexpr int compute_capability_minor = 76;
  static constexpr int function_max_dynamic_shared_bytes = 8;
};

}  // namespace sage::runtime
