// The instructions of NVIDIA GPUs that the traits use, one function each. Compilers that read this for another GPU see nothing; the
// emulator brings functions of the same names.
#if defined(SAGE_ON_NVIDIA) || defined(SAGE_ON_HOST)

namespace sage_device {

#if defined(SAGE_ON_HOST)
using sage_emulator::ptx_any;
using sage_emulator::ptx_block_id;
using sage_emulator::ptx_bulk_copy;
using sage_emulator::ptx_ceil;
using sage_emulator::ptx_cp_async_16;
using sage_emulator::ptx_cp_async_commit;
using sage_emulator::ptx_cp_async_wait_all;
using sage_emulator::ptx_cvt_bf16x2;
using sage_emulator::ptx_cvt_e4m3x2;
using sage_emulator::ptx_cvt_e4m3x2_to_f16x2;
using sage_emulator::ptx_cvt_f16x2;
using sage_emulator::ptx_cvt_to_f16;
using sage_emulator::ptx_cvt_to_f32;
using sage_emulator::ptx_ex2;
using sage_emulator::ptx_first_lane;
using sage_emulator::ptx_launch_dependents;
using sage_emulator::ptx_ldmatrix_x4;
using sage_emulator::ptx_lg2;
using sage_emulator::ptx_max;
using sage_emulator::ptx_max_abs;
using sage_emulator::ptx_max_bf16x2;
using sage_emulator::ptx_max_f16x2;
using sage_emulator::ptx_mbarrier_arrive;
using sage_emulator::ptx_mbarrier_expect;
using sage_emulator::ptx_mbarrier_fence;
using sage_emulator::ptx_mbarrier_init;
using sage_emulator::ptx_mbarrier_wait;
using sage_emulator::ptx_min;
using sage_emulator::ptx_min_bf16x2;
using sage_emulator::ptx_min_f16x2;
using sage_emulator::ptx_mma_e4m3;
using sage_emulator::ptx_mma_f16;
using sage_emulator::ptx_mma_s8;
using sage_emulator::ptx_opaque;
using sage_emulator::ptx_prmt;
using sage_emulator::ptx_rcp;
using sage_emulator::ptx_shfl;
using sage_emulator::ptx_shfl_xor;
using sage_emulator::ptx_sync;
using sage_emulator::ptx_tensor_copy;
using sage_emulator::ptx_thread_id;
using sage_emulator::ptx_wait_for_grids;
using sage_emulator::ptx_warp_sync;
#else
SAGE_FN u32 ptx_thread_id() {
  u32 x;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(x));  // volatile: asked again it is read again, not held in a register
  return x;
}
SAGE_FN u32 ptx_block_id() {
  u32 x;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(x));
  return x;
}
// The same value, unknown to the optimiser: what is computed from it is computed where it is used instead of held in registers.
SAGE_FN u32 ptx_opaque(u32 x) {
  asm volatile("" : "+r"(x));
  return x;
}
SAGE_FN float ptx_opaque(float x) {
  asm volatile("" : "+f"(x));
  return x;
}
SAGE_FN void ptx_sync() { asm volatile("bar.sync 0;" ::: "memory"); }
SAGE_FN void ptx_warp_sync() { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }
SAGE_FN float ptx_ex2(const float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
SAGE_FN float ptx_lg2(const float x) {
  float y;
  asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
SAGE_FN float ptx_rcp(const float x) {
  float y;
  asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
SAGE_FN float ptx_ceil(const float x) {
  float y;
  asm("cvt.rpi.f32.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
SAGE_FN float ptx_max(const float x, const float y) {
  float z;
  asm("max.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}
SAGE_FN float ptx_min(const float x, const float y) {
  float z;
  asm("min.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}
SAGE_FN u32 ptx_max_f16x2(const u32 x, const u32 y) {
  u32 z;
  asm("max.f16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));
  return z;
}
SAGE_FN u32 ptx_min_f16x2(const u32 x, const u32 y) {
  u32 z;
  asm("min.f16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));
  return z;
}
SAGE_FN u32 ptx_max_bf16x2(const u32 x, const u32 y) {
  u32 z;
  asm("max.bf16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));
  return z;
}
SAGE_FN u32 ptx_min_bf16x2(const u32 x, const u32 y) {
  u32 z;
  asm("min.bf16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));
  return z;
}
// The larger of x and |y|.
SAGE_FN float ptx_max_abs(const float x, const float y) {
  float z;
  asm("{ .reg .f32 t; abs.f32 t, %2; max.f32 %0, %1, t; }" : "=f"(z) : "f"(x), "f"(y));
  return z;
}
SAGE_FN u32 ptx_prmt(const u32 x, const u32 y, const u32 selector) {
  u32 z;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(z) : "r"(x), "r"(y), "r"(selector));
  return z;
}
SAGE_FN u32 ptx_cvt_f16x2(const float low, const float high) {
  u32 y;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}
SAGE_FN u32 ptx_cvt_bf16x2(const float low, const float high) {
  u32 y;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}
SAGE_FN u16 ptx_cvt_to_f16(const float x) {
  u16 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}
SAGE_FN float ptx_cvt_to_f32(const u16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}
SAGE_FN u32 ptx_shfl_xor(const u32 x, const int mask) {
  u32 y;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(y) : "r"(x), "r"(mask));
  return y;
}
SAGE_FN u32 ptx_shfl(const u32 x, const int lane) {
  u32 y;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(y) : "r"(x), "r"(lane));
  return y;
}
SAGE_FN u32 ptx_first_lane(const u32 x) {
  u32 y;
  asm volatile("shfl.sync.idx.b32 %0, %1, 0, 0x1f, 0xffffffff;" : "=r"(y) : "r"(x));
  return y;
}
SAGE_FN bool ptx_any(const bool x) {
  u32 y;
  asm volatile(
      "{ .reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.any.pred q, p, 0xffffffff; selp.u32 %0, 1, 0, q; }"
      : "=r"(y)
      : "r"(static_cast<u32>(x)));
  return y != 0;
}
SAGE_FN u32x4 ptx_ldmatrix_x4(const SharedRef at) {
  u32x4 x;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(at));
  return x;
}
SAGE_FN void ptx_cp_async_16(const SharedRef to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(__cvta_generic_to_global(from)) : "memory");
}
SAGE_FN void ptx_cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
SAGE_FN void ptx_cp_async_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
// Kernels of one stream may overlap where their launches allow it: the next may start once every block has called the first, and what the
// kernels before have written is there after the second.
SAGE_FN void ptx_launch_dependents() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
SAGE_FN void ptx_wait_for_grids() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
SAGE_FN void ptx_mbarrier_init(const SharedRef at, const u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(arrivals) : "memory");
}
// Makes what this thread initialised known to the copy engine; other threads need a barrier besides.
SAGE_FN void ptx_mbarrier_fence() {
  asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;" ::: "memory");
}
SAGE_FN void ptx_mbarrier_arrive(const SharedRef at) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
}
// One arrival that also announces bytes which copies will bring.
SAGE_FN void ptx_mbarrier_expect(const SharedRef at, const u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
}
// Until the phase of this parity is over.
SAGE_FN void ptx_mbarrier_wait(const SharedRef at, const u32 parity) {
  asm volatile(
      "{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra over; bra again; over: }" ::"r"(at),
      "r"(parity)
      : "memory");
}
SAGE_FN void ptx_bulk_copy(const SharedRef to, const void* from, const u32 bytes, const SharedRef barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
               : "memory");
}
// The box of the map that begins with this element, token, head and batch; zeros where the tensor has ended.
SAGE_FN void ptx_tensor_copy(const SharedRef to, const SageTensorMap* map, const int element, const int token, const int head, const int batch,
                             const SharedRef barrier) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(to),
               "l"(map), "r"(element), "r"(token), "r"(head), "r"(batch), "r"(barrier)
               : "memory");
}
#else
SAGE_FN void ptx_launch_dependents() {}
SAGE_FN void ptx_wait_for_grids() {}
// Never executed: only the kernels for sm_90a have these.
SAGE_FN void ptx_mbarrier_init(SharedRef, u32) {}
SAGE_FN void ptx_mbarrier_fence() {}
SAGE_FN void ptx_mbarrier_arrive(SharedRef) {}
SAGE_FN void ptx_mbarrier_expect(SharedRef, u32) {}
SAGE_FN void ptx_mbarrier_wait(SharedRef, u32) {}
SAGE_FN void ptx_bulk_copy(SharedRef, const void*, u32, SharedRef) {}
SAGE_FN void ptx_tensor_copy(SharedRef, const SageTensorMap*, int, int, int, int, SharedRef) {}
#endif
SAGE_FN void ptx_mma_s8(int (&c)[4], const u32x4& a, const u32 b0, const u32 b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
SAGE_FN void ptx_mma_f16(float (&c)[4], const u32x4& a, const u32 b0, const u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
SAGE_FN void ptx_mma_e4m3(float (&c)[4], const u32x4& a, const u32 b0, const u32 b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
SAGE_FN u32 ptx_cvt_e4m3x2(const float low, const float high) {
  u16 y;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(y) : "f"(high), "f"(low));
  return y;
}
SAGE_FN u32 ptx_cvt_e4m3x2_to_f16x2(const u16 x) {
  u32 y;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(y) : "h"(x));
  return y;
}
#else
// Never executed: no fp8 kernel is compiled below sm_89. Declared for the passes that only parse.
SAGE_FN void ptx_mma_e4m3(float (&)[4], const u32x4&, u32, u32) {}
SAGE_FN u32 ptx_cvt_e4m3x2(float, float) { return 0; }
SAGE_FN u32 ptx_cvt_e4m3x2_to_f16x2(u16) { return 0; }
#endif
#endif

}  // namespace sage_device

#endif
