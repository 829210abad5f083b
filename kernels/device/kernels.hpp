// The exported kernels: one per row of the tile table for the target being compiled, and the three of the prologue.
//
// With SAGE_ONLY defined, only those of the units that are picked: -DSAGE_ONLY -DSAGE_PICK_sage_attention_d128_F16_LONG
// compiles that one kernel, -DSAGE_PICK_sage_prologue the three of the prologue. Any number of picks may be given. The rows of
// alternatives.hpp are kernels only where they are picked, or with SAGE_ALTERNATIVES.

#define SAGE_KEEP(...) __VA_ARGS__
#define SAGE_DROP(...)
#if defined(SAGE_ONLY)
// -DX makes X the number 1, which is what tells a pick from a name that nobody defined: only PROBE_1 brings a comma along.
#define SAGE_PROBE_1 ~, SAGE_KEEP
#define SAGE_SECOND(first, second, ...) second
#define SAGE_CHOOSE(...) SAGE_SECOND(__VA_ARGS__)
#define SAGE_JOIN(a, b) a##b
#define SAGE_PROBE(value) SAGE_JOIN(SAGE_PROBE_, value)
#define SAGE_IF_UNIT(unit) SAGE_CHOOSE(SAGE_PROBE(SAGE_PICK_##unit), SAGE_DROP, ~)
#define SAGE_IF_ALTERNATIVE(unit) SAGE_IF_UNIT(unit)
#else
#define SAGE_IF_UNIT(unit) SAGE_KEEP
#if defined(SAGE_ALTERNATIVES)
#define SAGE_IF_ALTERNATIVE(unit) SAGE_KEEP
#else
#define SAGE_IF_ALTERNATIVE(unit) SAGE_DROP
#endif
#endif

#define SAGE_ATTENTION_KERNEL(symbol, Arch, dp, pv, waves, groups, keys, k_buffers, v_buffers, occupancy, form)                    \
  SAGE_KERNEL(symbol, waves * (Arch<SAGE_PV_##pv, form>::wave_size), occupancy)(const SageArgs a) {                               \
    typedef sage_device::Attention<Arch<SAGE_PV_##pv, form>, dp, SAGE_PV_##pv, waves, groups, keys, k_buffers, v_buffers> Kernel; \
    SAGE_SHARED_DYNAMIC(shared, Kernel::shared_bytes);                                                                            \
    Kernel::run(a, shared);                                                                                                       \
  }
#define SAGE_UNIT(Arch, dp, pv, length, ...)           \
  SAGE_IF_UNIT(sage_attention_d##dp##_##pv##_##length) \
  (SAGE_ATTENTION_KERNEL(sage_attention_d##dp##_##pv##_##length, Arch, dp, pv, __VA_ARGS__, SAGE_FORM_PLAIN))
#define SAGE_ALTERNATIVE(Arch, dp, pv, name, waves, groups, keys, k_buffers, v_buffers, occupancy, form)                             \
  SAGE_IF_ALTERNATIVE(sage_attention_d##dp##_##pv##_##name)                                                                        \
  (SAGE_ATTENTION_KERNEL(sage_attention_d##dp##_##pv##_##name, Arch, dp, pv, waves, groups, keys, k_buffers, v_buffers, occupancy, \
                         SAGE_FORM_##form))

#if (defined(SAGE_ON_AMD) && defined(__GFX12__)) || defined(SAGE_EMULATED_GFX12)
#define SAGE_ROW(...) SAGE_UNIT(sage_device::Gfx12, __VA_ARGS__)
#define SAGE_OTHER(...) SAGE_ALTERNATIVE(sage_device::Gfx12, __VA_ARGS__)
SAGE_TILES_GFX12_F16(SAGE_ROW)
SAGE_ALTERNATIVES_GFX12_F16(SAGE_OTHER)
SAGE_TILES_GFX12_FP8(SAGE_ROW)
SAGE_ALTERNATIVES_GFX12_FP8(SAGE_OTHER)
#undef SAGE_ROW
#undef SAGE_OTHER
typedef sage_device::Gfx12<SAGE_PV_FP8> SageOps;
#endif

#if (defined(SAGE_ON_AMD) && defined(__GFX11__)) || defined(SAGE_EMULATED_GFX11)
#define SAGE_ROW(...) SAGE_UNIT(sage_device::Gfx11, __VA_ARGS__)
#define SAGE_OTHER(...) SAGE_ALTERNATIVE(sage_device::Gfx11, __VA_ARGS__)
SAGE_TILES_GFX11_F16(SAGE_ROW)
SAGE_ALTERNATIVES_GFX11_F16(SAGE_OTHER)
#undef SAGE_ROW
#undef SAGE_OTHER
typedef sage_device::Gfx11<SAGE_PV_F16> SageOps;
#endif

#if (defined(SAGE_ON_AMD) && (defined(__gfx90a__) || defined(__gfx942__))) || defined(SAGE_EMULATED_GFX90A) || \
    defined(SAGE_EMULATED_GFX942)
#define SAGE_ROW(...) SAGE_UNIT(sage_device::Gfx9, __VA_ARGS__)
#define SAGE_OTHER(...) SAGE_ALTERNATIVE(sage_device::Gfx9, __VA_ARGS__)
SAGE_TILES_GFX9_F16(SAGE_ROW)
SAGE_ALTERNATIVES_GFX9_F16(SAGE_OTHER)
#if SAGE_MFMA_WIDE
SAGE_TILES_GFX9_FP8(SAGE_ROW)
SAGE_ALTERNATIVES_GFX9_FP8(SAGE_OTHER)
#endif
#undef SAGE_ROW
#undef SAGE_OTHER
typedef sage_device::Gfx9<SAGE_MFMA_WIDE ? SAGE_PV_FP8 : SAGE_PV_F16> SageOps;
#endif

#if defined(SAGE_EMULATED_SM90) || (defined(SAGE_ON_NVIDIA) && defined(__CUDA_ARCH_FEAT_SM90_ALL))
// Names of their own: an object for sm_90 without the "a" has the kernels of sm_89, which want other tiles.
#define SAGE_MAPPED_KERNEL(symbol, dp, pv, waves, groups, keys, k_buffers, v_buffers, occupancy)                                     \
  SAGE_KERNEL(symbol, waves * 32, occupancy)(const SageArgs a, SAGE_CONSTANT_PARAMETER SageTensorMap values) {                       \
    typedef sage_device::Sm90<dp>::Of<SAGE_PV_##pv, SAGE_FORM_PLAIN> Arch;                                                           \
    typedef sage_device::Attention<Arch, dp, SAGE_PV_##pv, waves, groups, keys, k_buffers, v_buffers> Kernel;                        \
    SAGE_SHARED_DYNAMIC(shared, Kernel::shared_bytes);                                                                               \
    Kernel::run(a, shared, &values);                                                                                                 \
  }
#define SAGE_ROW(dp, pv, length, ...)                       \
  SAGE_IF_UNIT(sage_attention_sm90_d##dp##_##pv##_##length) \
  (SAGE_MAPPED_KERNEL(sage_attention_sm90_d##dp##_##pv##_##length, dp, pv, __VA_ARGS__))
#define SAGE_OTHER(dp, pv, name, waves, groups, keys, k_buffers, v_buffers, occupancy, form) \
  SAGE_IF_ALTERNATIVE(sage_attention_sm90_d##dp##_##pv##_##name)                             \
  (SAGE_MAPPED_KERNEL(sage_attention_sm90_d##dp##_##pv##_##name, dp, pv, waves, groups, keys, k_buffers, v_buffers, occupancy))
SAGE_TILES_SM90_F16(SAGE_ROW)
SAGE_ALTERNATIVES_SM90_F16(SAGE_OTHER)
SAGE_TILES_SM90_FP8(SAGE_ROW)
SAGE_ALTERNATIVES_SM90_FP8(SAGE_OTHER)
#undef SAGE_ROW
#undef SAGE_OTHER
typedef sage_device::Hopper<SAGE_PV_FP8> SageOps;
#elif defined(SAGE_ON_NVIDIA) || defined(SAGE_EMULATED_NVIDIA)
#define SAGE_ROW(...) SAGE_UNIT(sage_device::Nvidia, __VA_ARGS__)
#define SAGE_OTHER(...) SAGE_ALTERNATIVE(sage_device::Nvidia, __VA_ARGS__)
SAGE_TILES_NVIDIA_F16(SAGE_ROW)
SAGE_ALTERNATIVES_NVIDIA_F16(SAGE_OTHER)
#if defined(SAGE_ON_HOST) || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
SAGE_TILES_NVIDIA_FP8(SAGE_ROW)
SAGE_ALTERNATIVES_NVIDIA_FP8(SAGE_OTHER)
#endif
#undef SAGE_ROW
#undef SAGE_OTHER
typedef sage_device::Nvidia<SAGE_PV_FP8> SageOps;
#endif

#if !defined(SAGE_ONLY) || defined(SAGE_PICK_sage_prologue)
#if defined(SAGE_ON_NVIDIA) || defined(SAGE_EMULATED_NVIDIA)
SAGE_KERNEL(sage_statistics, 256, 3)(const SageArgs a) {
  SAGE_SHARED(shared, (sage_device::NvidiaPrologue<SageOps, 256, false>::shared_bytes));
  sage_device::nvidia_prologue<SageOps, true>(a, shared);
}

// ptxas needs a few registers more below sm_90 (three blocks on an SM leave 80 to a thread).
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define SAGE_QUANTISE_BLOCKS 1
#else
#define SAGE_QUANTISE_BLOCKS 3
#endif
SAGE_KERNEL(sage_quantise, 256, SAGE_QUANTISE_BLOCKS)(const SageArgs a) {
  SAGE_SHARED(shared, (sage_device::NvidiaPrologue<SageOps, 256, false>::shared_bytes));
  sage_device::nvidia_prologue<SageOps, false>(a, shared);
}

// The list of kernels is the same for every family. Here the blocks of sage_quantise add up for themselves.
SAGE_KERNEL(sage_finalise, 256, 0)(const SageArgs) {}
#else
SAGE_KERNEL(sage_statistics, 256, 0)(const SageArgs a) {
  SAGE_SHARED(shared, sage_device::Prologue<SageOps>::statistics_shared);
  sage_device::Prologue<SageOps>::statistics(a, shared);
}

SAGE_KERNEL(sage_finalise, 256, 0)(const SageArgs a) { sage_device::Prologue<SageOps>::finalise(a); }

SAGE_KERNEL(sage_quantise, 256, 0)(const SageArgs a) {
  SAGE_SHARED(shared, sage_device::Prologue<SageOps>::shared_bytes);
  switch (a.dp) {
    case 64:
      sage_device::Prologue<SageOps>::quantise<64>(a, shared);
      break;
    case 96:
      sage_device::Prologue<SageOps>::quantise<96>(a, shared);
      break;
    case 128:
      sage_device::Prologue<SageOps>::quantise<128>(a, shared);
      break;
    default:
      sage_device::Prologue<SageOps>::quantise<256>(a, shared);
  }
}
#endif
#endif
