// Compiler and memory layer: the only place that knows which compiler reads the text.
//
// Four readers take the same text: a compiler for AMD GPUs (clang in HIP mode, hipcc, hipRTC), one for NVIDIA GPUs (nvcc), and the
// host compiler, for which the emulator has already declared the GPU builtins, memory accesses and shared memory under the same
// names (SAGE_EMULATED is defined then). No header of any of them is needed. Everything that touches memory goes through the functions
// below, so that the emulator sees every access.

#if defined(SAGE_EMULATED)
#define SAGE_ON_HOST 1
#define SAGE_FN inline
#define SAGE_UNROLL
#define SAGE_ROLLED
#elif defined(__CUDACC__) && !defined(__HIP__)
#define SAGE_ON_NVIDIA 1
#define SAGE_FN __device__ __forceinline__
#define SAGE_UNROLL _Pragma("unroll")
#define SAGE_ROLLED _Pragma("unroll 1")
#else
#define SAGE_ON_AMD 1
#define SAGE_FN __attribute__((device)) __attribute__((always_inline)) inline
#define SAGE_UNROLL _Pragma("unroll")
#define SAGE_ROLLED _Pragma("unroll 1")
#endif

#if defined(__has_builtin)
#define SAGE_HAS_BUILTIN(x) __has_builtin(x)
#else
#define SAGE_HAS_BUILTIN(x) 0
#endif

namespace sage_device {

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#if defined(SAGE_ON_NVIDIA)
// The CUDA front end has no vector extension in device code.
template <int N>
struct alignas(N * 4) Words {
  u32 w[N];
  SAGE_FN u32& operator[](int i) { return w[i]; }
  SAGE_FN u32 operator[](int i) const { return w[i]; }
};
typedef Words<4> u32x4;
typedef Words<2> u32x2;
#elif defined(SAGE_ON_AMD)
typedef u32 u32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
typedef int i32x2 __attribute__((ext_vector_type(2)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef int i32x16 __attribute__((ext_vector_type(16)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef _Float16 f16x2 __attribute__((ext_vector_type(2)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x8 __attribute__((ext_vector_type(8)));
typedef _Float16 f16x16 __attribute__((ext_vector_type(16)));
#else
typedef u32 u32x2 __attribute__((vector_size(8)));
typedef u32 u32x4 __attribute__((vector_size(16)));
typedef float f32x2 __attribute__((vector_size(8)));
using sage_emulator::f16x16;
using sage_emulator::f16x2;
using sage_emulator::f16x4;
using sage_emulator::f16x8;
using sage_emulator::f32x16;
using sage_emulator::f32x8;
using sage_emulator::i32x16;
using sage_emulator::i32x2;
using sage_emulator::i32x4;
using sage_emulator::i32x8;
#endif

// What one instruction moves.
template <int kBytes>
struct CopyUnit;
template <>
struct CopyUnit<16> {
  typedef u32x4 type;
};
template <>
struct CopyUnit<8> {
  typedef u32x2 type;
};

// Reinterprets bits. A union, because older device compilers lack __builtin_bit_cast; all of these compilers define the result.
template <class To, class From>
SAGE_FN To bits_as(const From from) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
#if defined(SAGE_ON_NVIDIA)
  union Both {
    From from;
    To to;
    SAGE_FN Both() {}
  } both;
  both.from = from;
  return both.to;
#else
  return __builtin_bit_cast(To, from);
#endif
}

template <class T>
SAGE_FN T minimum(const T a, const T b) {
  return a < b ? a : b;
}
template <class T>
SAGE_FN T maximum(const T a, const T b) {
  return a > b ? a : b;
}
SAGE_FN float absolute(const float x) { return bits_as<float>(bits_as<u32>(x) & 0x7fffffffu); }

// ---- Shared memory: a reference is something to which a byte offset can be added.
#if defined(SAGE_ON_HOST)
typedef u32 SharedRef;  // byte offset in the workgroup's emulated memory
template <class T>
SAGE_FN T shared_load(const SharedRef at) {
  return sage_emulator::shared_load<T>(at);
}
template <class T>
SAGE_FN void shared_store(const SharedRef at, const T value) {
  sage_emulator::shared_store<T>(at, value);
}
#elif defined(SAGE_ON_NVIDIA)
typedef u32 SharedRef;  // address in the shared window
template <class T>
SAGE_FN T shared_load(const SharedRef at) {
  return *static_cast<const T*>(__cvta_shared_to_generic(at));
}
template <class T>
SAGE_FN void shared_store(const SharedRef at, const T value) {
  *static_cast<T*>(__cvta_shared_to_generic(at)) = value;
}
#else
typedef __attribute__((address_space(3))) u8* SharedRef;
template <class T>
SAGE_FN T shared_load(const SharedRef at) {
  return *(const __attribute__((address_space(3))) T*)at;
}
template <class T>
SAGE_FN void shared_store(const SharedRef at, const T value) {
  *(__attribute__((address_space(3))) T*)at = value;
}
#endif

// ---- Global memory. uniform_load is for addresses that are the same in every lane and data that no kernel in flight writes.
#if defined(SAGE_ON_HOST)
template <class T>
SAGE_FN T global_load(const void* at) {
  return sage_emulator::global_load<T>(at);
}
template <class T>
SAGE_FN void global_store(void* at, const T value) {
  sage_emulator::global_store<T>(at, value);
}
template <class T>
SAGE_FN T uniform_load(const void* at) {
  return sage_emulator::global_load<T>(at);
}
#elif defined(SAGE_ON_NVIDIA)
template <class T>
SAGE_FN T global_load(const void* at) {
  return *static_cast<const T*>(at);
}
template <class T>
SAGE_FN void global_store(void* at, const T value) {
  *static_cast<T*>(at) = value;
}
template <class T>
SAGE_FN T uniform_load(const void* at) {
  return __ldg(static_cast<const T*>(at));
}
#else
template <class T>
SAGE_FN T global_load(const void* at) {
  return *(const __attribute__((address_space(1))) T*)at;
}
template <class T>
SAGE_FN void global_store(void* at, const T value) {
  *(__attribute__((address_space(1))) T*)at = value;
}
template <class T>
SAGE_FN T uniform_load(const void* at) {
  return *(const __attribute__((address_space(4))) T*)at;
}
#endif

}  // namespace sage_device

// ---- Kernel declarations and their shared memory.
#if defined(SAGE_ON_HOST)
#define SAGE_CONSTANT_PARAMETER const
#define SAGE_KERNEL(name, threads, occupancy) inline void name
#define SAGE_SHARED(name, bytes) const sage_device::SharedRef name = sage_emulator::shared_allocate(bytes)
#define SAGE_SHARED_DYNAMIC(name, bytes) SAGE_SHARED(name, bytes)
#elif defined(SAGE_ON_NVIDIA)
#define SAGE_CONSTANT_PARAMETER const __grid_constant__  // a kernel may take its address
#define SAGE_KERNEL(name, threads, occupancy) extern "C" __global__ void __launch_bounds__(threads, occupancy) name
#define SAGE_SHARED(name, bytes)                           \
  __shared__ __align__(16) unsigned char name##_bytes[bytes]; \
  const sage_device::SharedRef name = static_cast<sage_device::u32>(__cvta_generic_to_shared(name##_bytes))
#define SAGE_SHARED_DYNAMIC(name, bytes)                        \
  extern __shared__ __align__(1024) unsigned char name##_bytes[]; \
  const sage_device::SharedRef name = static_cast<sage_device::u32>(__cvta_generic_to_shared(name##_bytes))
#else
#define SAGE_OCCUPANCY_0
#define SAGE_OCCUPANCY_1 __attribute__((amdgpu_waves_per_eu(1, 1)))
#define SAGE_OCCUPANCY_2 __attribute__((amdgpu_waves_per_eu(2, 2)))
#define SAGE_KERNEL(name, threads, occupancy)                                                                          \
  extern "C" __attribute__((visibility("protected"))) __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(threads, threads))) \
  SAGE_OCCUPANCY_##occupancy void name
#define SAGE_SHARED(name, bytes)                                                    \
  static __attribute__((shared)) __attribute__((aligned(16))) unsigned char name##_bytes[bytes]; \
  const sage_device::SharedRef name = (sage_device::SharedRef)name##_bytes
#define SAGE_SHARED_DYNAMIC(name, bytes) SAGE_SHARED(name, bytes)
#endif
