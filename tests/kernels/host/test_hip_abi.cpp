// The hand-written declarations against the real header of HIP. Built only where that header is installed.
#define __HIP_PLATFORM_AMD__ 1
#include <doctest/doctest.h>
#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>

#include <cstddef>
#include <tuple>
#include <type_traits>

#include "runtime/driver_abi.hpp"

namespace rt = sage::runtime;

namespace {

// What matters to a call: the register class and size of a value. Enumerations travel as integers, handles as pointers.
template <class T>
struct Passed {
  static constexpr std::size_t size = sizeof(T);
  static constexpr int kind = std::is_pointer_v<T> ? 1 : std::is_enum_v<T> || std::is_integral_v<T> ? 2 : 3;
};

template <class A, class B>
constexpr bool alike() {
  return Passed<A>::size == Passed<B>::size && Passed<A>::kind == Passed<B>::kind && Passed<A>::kind != 3;
}

template <class Ours, class Theirs>
struct SameCall : std::false_type {};

template <class R, class... A, class S, class... B>
struct SameCall<R (*)(A...), S (*)(B...)> {
  static constexpr bool same_arguments() {
    if constexpr (sizeof...(A) != sizeof...(B)) {
      return false;
    } else {
      return (alike<A, B>() && ...);
    }
  }
  static constexpr bool value = alike<R, S>() && same_arguments();
};

// hipGetDeviceProperties is a macro from ROCm 6 on; the plain C function is what the table binds.
#if HIP_VERSION_MAJOR >= 6
constexpr std::size_t arch_name_at = rt::HipProperties::arch_name_r0600;
constexpr std::size_t size = rt::HipProperties::size_r0600;
#else
constexpr std::size_t arch_name_at = rt::HipProperties::arch_name_r0000;
constexpr std::size_t size = rt::HipProperties::size_r0000;
#endif

}  // namespace

TEST_CASE("functions") {
  CHECK(SameCall<rt::ModuleLoadData, decltype(&hipModuleLoadData)>::value);
  CHECK(SameCall<rt::ModuleUnload, decltype(&hipModuleUnload)>::value);
  CHECK(SameCall<rt::ModuleGetFunction, decltype(&hipModuleGetFunction)>::value);
  CHECK(SameCall<rt::LaunchKernel, decltype(&hipModuleLaunchKernel)>::value);
  CHECK(SameCall<rt::GetDevice, decltype(&hipGetDevice)>::value);
  CHECK(SameCall<rt::HipGetErrorString, decltype(&hipGetErrorString)>::value);
  using Properties = hipError_t (*)(hipDeviceProp_t*, int);
  CHECK(SameCall<rt::HipGetDeviceProperties, Properties>::value);
}

TEST_CASE("the comparison can tell calls apart") {
  CHECK_FALSE(SameCall<int (*)(int), int (*)(long)>::value);
  CHECK_FALSE(SameCall<int (*)(int), int (*)(int, int)>::value);
  CHECK_FALSE(SameCall<int (*)(void*), int (*)(unsigned long)>::value);
  CHECK_FALSE(SameCall<int (*)(int), void* (*)(int)>::value);
}

TEST_CASE("results") {
  CHECK(static_cast<int>(hipSuccess) == 0);
  CHECK(static_cast<int>(hipErrorNoDevice) == rt::HipResult::no_device);
  CHECK(static_cast<int>(hipErrorInvalidDevice) == rt::HipResult::invalid_device);
}

TEST_CASE("the one field that is read of the device properties") {
  CHECK(offsetof(hipDeviceProp_t, gcnArchName) == arch_name_at);
  CHECK(sizeof(hipDeviceProp_t{}.gcnArchName) == rt::HipProperties::arch_name_bytes);
  CHECK(sizeof(hipDeviceProp_t) == size);
  CHECK(sizeof(hipDeviceProp_t) <= rt::HipProperties::buffer_bytes);
}
