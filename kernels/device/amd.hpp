// What all AMD families share: ids, barrier, scalar arithmetic, conversions.
#if defined(SAGE_ON_AMD) || defined(SAGE_ON_HOST)

namespace sage_device {

struct Amd {
  static SAGE_FN int thread_id() { return static_cast<int>(__builtin_amdgcn_workitem_id_x()); }
  static SAGE_FN int workgroup_id() { return static_cast<int>(__builtin_amdgcn_workgroup_id_x()); }
  // Makes a value that is the same in every lane known as such to the compiler (a scalar register).
  static SAGE_FN int uniform(const int x) { return __builtin_amdgcn_readfirstlane(x); }

  // Workgroup barrier that orders shared memory only. A workgroup-scope fence would also wait for the global prefetch in flight and,
  // from gfx10 on, throw away the vector cache; no kernel here passes data through global memory inside a launch.
  static SAGE_FN void barrier() {
#if defined(SAGE_ON_AMD)
#if defined(__GFX12__)
    asm volatile("s_wait_dscnt 0x0" ::: "memory");
#else
    asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
#endif
    __builtin_amdgcn_s_barrier();
    asm volatile("" ::: "memory");
#else
    __builtin_amdgcn_s_barrier();
#endif
  }

  // Nothing moves across it: keeps LLVM from holding every fragment of a tile in registers at once.
  static SAGE_FN void schedule_fence() {
#if defined(SAGE_ON_AMD) && SAGE_HAS_BUILTIN(__builtin_amdgcn_sched_barrier)
    __builtin_amdgcn_sched_barrier(0);
#endif
  }

  // The same value, unknown to the optimiser: it is kept in these registers instead of being made again where it is used.
  template <class T>
  static SAGE_FN T held(T x) {
#if defined(SAGE_ON_AMD)
    asm("" : "+v"(x));
#endif
    return x;
  }

  // The hardware's exp2 and log2: __builtin_exp2f would add scaling for denormals, which no probability needs.
  static SAGE_FN float exp2(const float x) {
#if defined(SAGE_ON_HOST) || SAGE_HAS_BUILTIN(__builtin_amdgcn_exp2f)
    return __builtin_amdgcn_exp2f(x);
#else
    float result;
    asm("v_exp_f32 %0, %1" : "=v"(result) : "v"(x));
    return result;
#endif
  }
  static SAGE_FN float log2(const float x) {
#if defined(SAGE_ON_HOST) || SAGE_HAS_BUILTIN(__builtin_amdgcn_logf)
    return __builtin_amdgcn_logf(x);
#else
    float result;
    asm("v_log_f32 %0, %1" : "=v"(result) : "v"(x));
    return result;
#endif
  }
  static SAGE_FN float reciprocal(const float x) { return __builtin_amdgcn_rcpf(x); }
  static SAGE_FN float ceiling(const float x) { return __builtin_ceilf(x); }
  static SAGE_FN float fma(const float a, const float b, const float c) { return __builtin_fmaf(a, b, c); }
  static SAGE_FN float max(const float a, const float b) { return __builtin_fmaxf(a, b); }
  static SAGE_FN float min(const float a, const float b) { return __builtin_fminf(a, b); }

  static SAGE_FN float f16_to_f32(const u16 x) {
#if defined(SAGE_ON_HOST)
    return sage_emulator::f16_to_f32(x);
#else
    return static_cast<float>(bits_as<_Float16>(x));
#endif
  }
  static SAGE_FN u16 f32_to_f16(const float x) {
#if defined(SAGE_ON_HOST)
    return sage_emulator::f32_to_f16(x);
#else
    return bits_as<u16>(static_cast<_Float16>(x));
#endif
  }

  // Two floats to packed f16, rounded toward zero: one instruction; the row sum uses the rounded values, so the bias cancels.
  static SAGE_FN u32 pack_f16(const float a, const float b) { return bits_as<u32>(__builtin_amdgcn_cvt_pkrtz(a, b)); }

#if defined(SAGE_ON_HOST) || SAGE_HAS_BUILTIN(__builtin_amdgcn_cvt_pk_fp8_f32)
  static SAGE_FN u32 pack_fp8(const float a, const float b, const float c, const float d) {
    // The half that an instruction leaves alone is written by the other one; starting from `a` needs no register set to zero.
    int packed = bits_as<int>(a);
    packed = __builtin_amdgcn_cvt_pk_fp8_f32(a, b, packed, false);
    packed = __builtin_amdgcn_cvt_pk_fp8_f32(c, d, packed, true);
    return static_cast<u32>(packed);
  }
#else
  static SAGE_FN u32 pack_fp8(float, float, float, float) { return 0; }  // no fp8 kernel is compiled for these targets
#endif
};

}  // namespace sage_device

#endif
