#include "probes/proof_child/compile.hpp"

namespace sage {
namespace {

// No header, no device library, no built-in variable: what facts/kernels.md 9c asks of device code.
constexpr std::string_view hip_freestanding = R"(extern "C" __attribute__((global)) void sage_proof(unsigned* out, unsigned seed) {
  unsigned i = __builtin_amdgcn_workitem_id_x();
  out[i] = (i * 2654435761u) ^ seed;
}
)";

// threadIdx needs HIP's headers, sinf the device libraries.
constexpr std::string_view hip_with_headers = R"(#include <hip/hip_runtime.h>
extern "C" __global__ void sage_proof(float* out, float seed) {
  out[threadIdx.x] = sinf(static_cast<float>(threadIdx.x) * seed);
}
)";

// hipRTC brings HIP's declarations itself; an #include would look for files that a wheel does not have.
constexpr std::string_view hiprtc_with_headers = R"(extern "C" __global__ void sage_proof(float* out, float seed) {
  out[threadIdx.x] = sinf(static_cast<float>(threadIdx.x) * seed);
}
)";

constexpr std::string_view cuda_freestanding = R"(extern "C" __global__ void sage_proof(unsigned* out, unsigned seed) {
  unsigned i = threadIdx.x;
  out[i] = (i * 2654435761u) ^ seed;
}
)";

constexpr std::string_view cuda_with_headers = R"(#include <cuda_fp16.h>
extern "C" __global__ void sage_proof(float* out, float seed) {
  out[threadIdx.x] = __half2float(__float2half(sinf(static_cast<float>(threadIdx.x) * seed)));
}
)";

}  // namespace

std::string_view proof_source(CompilerKind kind, ProofSource source) {
  const bool freestanding = source == ProofSource::freestanding;
  if (kind == CompilerKind::nvcc) return freestanding ? cuda_freestanding : cuda_with_headers;
  if (freestanding) return hip_freestanding;
  return kind == CompilerKind::hiprtc ? hiprtc_with_headers : hip_with_headers;
}

}  // namespace sage
