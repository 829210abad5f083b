// Kernels of the right names that do nothing, as a fake compiler's output. Made with clang 19:
//   clang++-19 -x hip --cuda-device-only --no-gpu-bundle-output -nogpulib -nogpuinc -O2 --offload-arch=gfx1100 -o gfx1100.hsaco stand_in.hip
// with -DLONG_IN_SCRATCH, -DALL_IN_SCRATCH, -DFEW_ARGUMENTS or -DMUCH_LDS for scratch.hsaco ... and --offload-arch=gfx90a for gfx90a.hsaco.
#if defined(FEW_ARGUMENTS)
struct Arguments { long long words[2]; };
#else
struct Arguments { long long words[41]; };
#endif
#define KERNEL(name) extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, 1024))) void name(const Arguments a)

#define PLAIN(name) KERNEL(name) {}
#define WITH_SCRATCH(name)                                                     \
  KERNEL(name) {                                                               \
    volatile int place[16];                                                    \
    for (int i = 0; i < 16; ++i) place[i] = (int)a.words[0];                   \
    ((int*)a.words[0])[0] = place[a.words[1] & 15];                            \
  }
#if defined(ALL_IN_SCRATCH)
#define LONG(name) WITH_SCRATCH(name)
#define SHORT(name) WITH_SCRATCH(name)
#elif defined(LONG_IN_SCRATCH)
#define LONG(name) WITH_SCRATCH(name)
#define SHORT(name) PLAIN(name)
#elif defined(MUCH_LDS)
#define LONG(name) KERNEL(name) { __attribute__((shared)) static int much[16000]; much[a.words[1] & 8191] = 1; __builtin_amdgcn_s_barrier(); ((int*)a.words[0])[0] = much[a.words[2] & 8191]; }
#define SHORT(name) PLAIN(name)
#else
#define LONG(name) PLAIN(name)
#define SHORT(name) PLAIN(name)
#endif

LONG(sage_attention_d64_F16_LONG)
LONG(sage_attention_d96_F16_LONG)
LONG(sage_attention_d128_F16_LONG)
LONG(sage_attention_d256_F16_LONG)
SHORT(sage_attention_d64_F16_SHORT)
SHORT(sage_attention_d96_F16_SHORT)
SHORT(sage_attention_d128_F16_SHORT)
SHORT(sage_attention_d256_F16_SHORT)
PLAIN(sage_statistics)
PLAIN(sage_finalise)
PLAIN(sage_quantise)
