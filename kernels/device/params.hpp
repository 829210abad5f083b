// The one argument block of every kernel.
//
// A call of the library is a short chain of launches on one stream; all of them take the same `SageArgs` by value, so that a runtime fills
// one structure per call. The attention kernels of sm_90 take a second argument, a view of V for the copy engine; the others take no more.
// The structure is plain C: fixed-size integers and pointers at natural alignment, no padding that a compiler could choose. plan.hpp computes
// every derived field, workspace offset and grid.
//
// Chain (launches in brackets are left out when `plan.hpp` says so; NVIDIA never launches sage_finalise):
//   [sage_statistics] -> [sage_finalise] -> sage_quantise -> sage_attention_d<D>_<f16|fp8>_<long|short>
//
// | kernel           | grid.x                              | block            | static shared memory          |
// |------------------|-------------------------------------|------------------|-------------------------------|
// | sage_statistics  | kv_chunks * batch * kv_heads; NVIDIA: and blocks of the next that need no statistics | 256 | yes, fixed |
// | sage_finalise    | batch * kv_heads                    | 256              | none                          |
// | sage_quantise    | q_blocks + k_blocks + v_blocks      | 256              | yes, fixed                    |
// | sage_attention_* | q_tiles * q_heads * batch           | tile.threads     | AMD static, NVIDIA dynamic    |
//
// grid.y = grid.z = block.y = block.z = 1. On AMD all shared memory is static (part of the kernel descriptor: pass 0 dynamic bytes).
// On NVIDIA the attention kernels use `tile_lds_bytes()` dynamic bytes, above 48 KiB only after raising the function attribute
// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES.
//
// Layouts in the workspace (all contiguous, written and read only by these kernels):
//   q8       int8  [batch*q_heads][q_len][dp]           dp = head_dim rounded up to 64, 96, 128 or 256, zero filled
//   k8       int8  [batch*kv_heads][key_padded][dp]     keys padded with zeros to a multiple of 128
//   vt       f16 or fp8 [batch*kv_heads][dp][key_padded] V transposed, padded with zeros
//   q_scale  f32   [batch*q_heads][q_len]               includes sm_scale * log2(e)
//   k_scale  f32   [batch*kv_heads][key_padded/32]      one scale per 32 keys
//   v_scale  f32   [batch*kv_heads][dp]                 1 where no scaling is needed
//   k_mean   f32   [batch*kv_heads][dp]                 zeros in effect (pointer null) without smoothing
//   q_mean   f32   [batch*q_heads][q_len]               (q . k_mean) * sm_scale, natural units; only with LSE and smoothing
//   partial  f32   [batch*kv_heads][kv_chunks][2][dp]   channel sums of K / kv_len, channel maxima of |V|
// NVIDIA: rows of q8 and k8 have 128 bytes for dp 96, and the 16-byte units of a row are swizzled; vt is
// [batch*kv_heads][key_padded/n][dp][n], swizzled too, n = 64 keys (32 for f16 and dp 256): a tile is one run of bytes. See nvidia.hpp.
// sm_90, dp up to 128 (hopper.hpp): the attention kernel makes int8 of Q by itself: no q8, no q_scale; q_mean only says that log-sum-exp
// needs that product, which it makes of Q and k_mean. With f16 PV it takes rows of V: the caller's own, or, where the copy engine can't read them
// or they are bf16, vt as f16 [batch*kv_heads][key_padded][dp]. NVIDIA writes k_mean only for q_mean.
#ifndef SAGE_PARAMS_HPP
#define SAGE_PARAMS_HPP

#define SAGE_PARAMS_VERSION 2

// Element types of q, k, v and out.
#define SAGE_TYPE_F16 0
#define SAGE_TYPE_BF16 1

// Type of P and V in the second product.
#define SAGE_PV_F16 0
#define SAGE_PV_FP8 1

// Causal masks. With q_len == kv_len both are the same.
//   top left:     key <= query
//   bottom right: key <= query + (kv_len - q_len); the last query sees every key
// A query that sees no key has output 0 and LSE -inf.
#define SAGE_MASK_NONE 0
#define SAGE_MASK_CAUSAL_BOTTOM_RIGHT 1
#define SAGE_MASK_CAUSAL_TOP_LEFT 2

// Element strides. The kernels use 16-byte accesses where `*_vector` is 1: d stride 1, base and all other strides multiples of
// 16 bytes; otherwise single elements. They are correct for any stride, negative ones included.
struct SageStrides {
  long long batch;
  long long head;
  long long token;
  long long dim;
};

struct SageArgs {
  // Caller's tensors. Element type `io_type`; lse may be null (f32, contiguous [batch][q_heads][q_len], natural logarithm).
  const void* q;
  const void* k;
  const void* v;
  void* out;
  float* lse;
  // Workspace.
  signed char* q8;
  signed char* k8;
  void* vt;
  float* q_scale;
  float* k_scale;
  float* v_scale;
  float* k_mean;   // null: no smoothing
  float* q_mean;   // null: no LSE correction
  float* partial;  // null: neither sums nor maxima are needed
  struct SageStrides q_stride;
  struct SageStrides k_stride;
  struct SageStrides v_stride;
  struct SageStrides out_stride;
  int batch;
  int q_heads;
  int kv_heads;  // divides q_heads
  int q_len;
  int kv_len;
  int head_dim;    // 1..256
  int dp;          // padded head dim
  int key_padded;  // kv_len rounded up to 128
  int kv_chunks;   // ceil(kv_len / 256); NVIDIA: no more than 16
  int q_blocks;    // blocks of sage_quantise that quantise Q, then K, then transpose V
  int k_blocks;
  int v_blocks;
  int q_tiles;  // attention workgroups per (batch, head)
  int mask;     // SAGE_MASK_*
  int io_type;  // SAGE_TYPE_*
  int pv_type;  // SAGE_PV_*
  int v_scaled; // 1: v_scale is computed from the maxima (bf16 or fp8), 0: v_scale is 1
  int q_vector;
  int k_vector;
  int v_vector;
  int out_vector;
  float sm_scale;  // multiplies q.k, usually 1/sqrt(head_dim)
};

// What the copy engine of sm_90 knows of a tensor (CUtensorMap): made by the driver, read by the engine alone.
struct __attribute__((aligned(64))) SageTensorMap {
  unsigned long long opaque[16];
};

#endif
