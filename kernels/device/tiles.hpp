// The table of attention tiles: one row per (family, head dim, PV type, length class).
//
// A row becomes one kernel, one entry of the runtime's choice, one line of the gates and one set of emulated tests. Keep rows of a
// family together. Columns:
//   dp          padded head dim
//   pv          F16 or FP8
//   length      LONG or SHORT (tile_length() in plan.hpp says which is used)
//   waves       waves (warps) per workgroup
//   groups      query groups per wave; a group is 16 queries (gfx9: 32), all groups of a wave share each K and V fragment
//   keys        keys per iteration, a multiple of 32
//   k_buffers   buffers of the K tile in shared memory: 2 (sm_90: or more; three were not faster, see docs/benchmarks.md)
//   v_buffers   buffers of the V tile: 1 or 2 (NVIDIA: as k_buffers)
//   occupancy   minimum waves per SIMD asked of the compiler on AMD (0: no request); minimum blocks per SM on NVIDIA
// On AMD head dim 96 takes a multiple of three waves so that 16-byte copies divide evenly among the threads. The shapes follow measured or
// modelled figures for each architecture: 16 waves of 16 queries where registers allow it on RDNA, four waves of 32 queries on NVIDIA and CDNA.
#ifndef SAGE_TILES_HPP
#define SAGE_TILES_HPP

// X(dp, pv, length, waves, groups, keys, k_buffers, v_buffers, occupancy)
#define SAGE_TILES_GFX12_F16(X)      \
  X(64, F16, LONG, 16, 1, 64, 2, 2, 0)   \
  X(64, F16, SHORT, 8, 1, 64, 2, 2, 0)   \
  X(96, F16, LONG, 12, 1, 64, 2, 2, 0)   \
  X(96, F16, SHORT, 6, 1, 64, 2, 2, 0)   \
  X(128, F16, LONG, 16, 1, 64, 2, 2, 0)  \
  X(128, F16, SHORT, 8, 1, 64, 2, 1, 0)  \
  X(256, F16, LONG, 8, 1, 32, 2, 1, 0)   \
  X(256, F16, SHORT, 8, 1, 32, 2, 1, 0)

#define SAGE_TILES_GFX12_FP8(X)      \
  X(64, FP8, LONG, 16, 1, 64, 2, 2, 0)   \
  X(64, FP8, SHORT, 8, 1, 64, 2, 2, 0)   \
  X(96, FP8, LONG, 12, 1, 64, 2, 2, 0)   \
  X(96, FP8, SHORT, 6, 1, 64, 2, 2, 0)   \
  X(128, FP8, LONG, 16, 1, 64, 2, 2, 0)  \
  X(128, FP8, SHORT, 8, 1, 64, 2, 2, 0)  \
  X(256, FP8, LONG, 8, 1, 32, 2, 2, 0)   \
  X(256, FP8, SHORT, 8, 1, 32, 2, 2, 0)

#define SAGE_TILES_GFX11_F16(X)      \
  X(64, F16, LONG, 16, 1, 64, 2, 2, 0)   \
  X(64, F16, SHORT, 8, 1, 64, 2, 2, 0)   \
  X(96, F16, LONG, 12, 1, 64, 2, 1, 0)   \
  X(96, F16, SHORT, 6, 1, 32, 2, 2, 0)   \
  X(128, F16, LONG, 16, 1, 64, 2, 1, 0)  \
  X(128, F16, SHORT, 8, 1, 32, 2, 2, 0)  \
  X(256, F16, LONG, 16, 1, 32, 2, 1, 0)  \
  X(256, F16, SHORT, 16, 1, 32, 2, 1, 0)

#define SAGE_TILES_GFX9_F16(X)       \
  X(64, F16, LONG, 4, 1, 64, 2, 2, 2)    \
  X(64, F16, SHORT, 4, 1, 64, 2, 2, 2)   \
  X(96, F16, LONG, 3, 1, 64, 2, 1, 2)    \
  X(96, F16, SHORT, 3, 1, 64, 2, 1, 2)   \
  X(128, F16, LONG, 4, 1, 64, 2, 1, 2)   \
  X(128, F16, SHORT, 4, 1, 64, 2, 1, 2)  \
  X(256, F16, LONG, 4, 1, 32, 2, 1, 1)   \
  X(256, F16, SHORT, 4, 1, 32, 2, 1, 1)

#define SAGE_TILES_GFX9_FP8(X)       \
  X(64, FP8, LONG, 4, 1, 64, 2, 2, 2)    \
  X(64, FP8, SHORT, 4, 1, 64, 2, 2, 2)   \
  X(96, FP8, LONG, 3, 1, 64, 2, 2, 2)    \
  X(96, FP8, SHORT, 3, 1, 64, 2, 2, 2)   \
  X(128, FP8, LONG, 4, 1, 64, 2, 2, 2)   \
  X(128, FP8, SHORT, 4, 1, 64, 2, 2, 2)  \
  X(256, FP8, LONG, 4, 1, 32, 2, 2, 1)   \
  X(256, FP8, SHORT, 4, 1, 32, 2, 2, 1)

// sm_90a: warpgroup products but for head dim 256, whose rows are those of NVIDIA.
#define SAGE_TILES_SM90_F16(X)       \
  X(64, F16, LONG, 8, 1, 128, 2, 2, 2)    \
  X(64, F16, SHORT, 4, 1, 64, 2, 2, 4)   \
  X(96, F16, LONG, 8, 1, 64, 2, 2, 2)    \
  X(96, F16, SHORT, 4, 1, 64, 2, 2, 3)   \
  X(128, F16, LONG, 8, 1, 64, 2, 2, 2)   \
  X(128, F16, SHORT, 4, 1, 64, 2, 2, 3)  \
  X(256, F16, LONG, 8, 1, 32, 2, 2, 1)   \
  X(256, F16, SHORT, 4, 1, 32, 2, 2, 1)

#define SAGE_TILES_SM90_FP8(X)       \
  X(64, FP8, LONG, 8, 1, 64, 2, 2, 2)    \
  X(64, FP8, SHORT, 4, 1, 64, 2, 2, 4)   \
  X(96, FP8, LONG, 4, 1, 64, 2, 2, 3)    \
  X(96, FP8, SHORT, 4, 1, 64, 2, 2, 3)   \
  X(128, FP8, LONG, 4, 1, 64, 2, 2, 3)   \
  X(128, FP8, SHORT, 4, 1, 64, 2, 2, 3)  \
  X(256, FP8, LONG, 8, 1, 64, 2, 2, 1)   \
  X(256, FP8, SHORT, 4, 1, 64, 2, 2, 1)

#define SAGE_TILES_NVIDIA_F16(X)     \
  X(64, F16, LONG, 4, 2, 128, 2, 2, 2)   \
  X(64, F16, SHORT, 4, 1, 64, 2, 2, 3)   \
  X(96, F16, LONG, 4, 2, 64, 2, 2, 2)    \
  X(96, F16, SHORT, 4, 1, 64, 2, 2, 2)   \
  X(128, F16, LONG, 4, 2, 64, 2, 2, 2)   \
  X(128, F16, SHORT, 4, 1, 64, 2, 2, 2)  \
  X(256, F16, LONG, 8, 1, 32, 2, 2, 1)   \
  X(256, F16, SHORT, 4, 1, 32, 2, 2, 1)

#define SAGE_TILES_NVIDIA_FP8(X)     \
  X(64, FP8, LONG, 4, 2, 128, 2, 2, 2)   \
  X(64, FP8, SHORT, 4, 1, 64, 2, 2, 3)   \
  X(96, FP8, LONG, 4, 2, 64, 2, 2, 2)    \
  X(96, FP8, SHORT, 4, 1, 64, 2, 2, 2)   \
  X(128, FP8, LONG, 4, 2, 64, 2, 2, 2)   \
  X(128, FP8, SHORT, 4, 1, 64, 2, 2, 2)  \
  X(256, FP8, LONG, 8, 1, 64, 2, 2, 1)   \
  X(256, FP8, SHORT, 4, 1, 64, 2, 2, 1)

#endif
