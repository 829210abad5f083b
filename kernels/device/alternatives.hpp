// Tiles beside those of tiles.hpp: what may be faster on one GPU and slower on the next.
//
// No build compiles them on its own. `sage-doctor bench --tune` compiles those of the GPU at hand, measures them, and stores which kernel is
// to serve which class of shapes (ShapeClass in plan.hpp). A row is one kernel; its name says what is different about it:
//   B<n>    queries of a workgroup
//   K<n>    keys per iteration
//   S3      three buffers of K and V instead of two, so that a tile is asked for two tiles ahead (sm_90)
//   Q32     32 queries a wave instead of 16: each K and V fragment is read once for both groups
//   X       rows in shared memory swizzled instead of padded by 16 bytes
//   E       the running maximum is followed at once instead of lazily: more rescaling, probabilities up to 1
//
// Columns: as in tiles.hpp, then the form (SAGE_FORM_* below). All of it is compiled with SAGE_ALTERNATIVES, or what is picked (kernels.hpp).
#ifndef SAGE_ALTERNATIVES_HPP
#define SAGE_ALTERNATIVES_HPP

#define SAGE_FORM_PLAIN 0
#define SAGE_FORM_SWIZZLED 1
#define SAGE_FORM_EAGER 2

// X(dp, pv, name, waves, groups, keys, k_buffers, v_buffers, occupancy, form)
#define SAGE_ALTERNATIVES_GFX12_F16(X)                    \
  X(64, F16, B256K64Q32, 8, 2, 64, 2, 2, 0, PLAIN)        \
  X(64, F16, B128K64Q32, 4, 2, 64, 2, 2, 0, PLAIN)        \
  X(64, F16, B256K128, 16, 1, 128, 2, 2, 0, PLAIN)        \
  X(64, F16, B128K32, 8, 1, 32, 2, 2, 0, PLAIN)           \
  X(64, F16, B256K64X, 16, 1, 64, 2, 2, 0, SWIZZLED)      \
  X(64, F16, B128K64X, 8, 1, 64, 2, 2, 0, SWIZZLED)       \
  X(64, F16, B256K64E, 16, 1, 64, 2, 2, 0, EAGER)         \
  X(96, F16, B192K32, 12, 1, 32, 2, 2, 0, PLAIN)          \
  X(128, F16, B256K32, 16, 1, 32, 2, 2, 0, PLAIN)         \
  X(128, F16, B128K32, 8, 1, 32, 2, 2, 0, PLAIN)          \
  X(128, F16, B256K64X, 16, 1, 64, 2, 2, 0, SWIZZLED)     \
  X(128, F16, B128K64X, 8, 1, 64, 2, 2, 0, SWIZZLED)      \
  X(128, F16, B256K64E, 16, 1, 64, 2, 2, 0, EAGER)        \
  X(256, F16, B256K32, 16, 1, 32, 2, 1, 0, PLAIN)

#define SAGE_ALTERNATIVES_GFX12_FP8(X)                    \
  X(64, FP8, B256K64Q32, 8, 2, 64, 2, 2, 0, PLAIN)        \
  X(64, FP8, B128K64Q32, 4, 2, 64, 2, 2, 0, PLAIN)        \
  X(64, FP8, B256K128, 16, 1, 128, 2, 2, 0, PLAIN)        \
  X(64, FP8, B256K64X, 16, 1, 64, 2, 2, 0, SWIZZLED)      \
  X(128, FP8, B256K32, 16, 1, 32, 2, 2, 0, PLAIN)         \
  X(128, FP8, B256K64X, 16, 1, 64, 2, 2, 0, SWIZZLED)     \
  X(128, FP8, B256K64E, 16, 1, 64, 2, 2, 0, EAGER)        \
  X(256, FP8, B256K32, 16, 1, 32, 2, 2, 0, PLAIN)

#define SAGE_ALTERNATIVES_GFX11_F16(X)                    \
  X(64, F16, B256K64Q32, 8, 2, 64, 2, 2, 0, PLAIN)        \
  X(64, F16, B128K32Q32, 4, 2, 32, 2, 2, 0, PLAIN)        \
  X(64, F16, B128K32, 8, 1, 32, 2, 2, 0, PLAIN)           \
  X(64, F16, B256K64X, 16, 1, 64, 2, 2, 0, SWIZZLED)      \
  X(64, F16, B128K64X, 8, 1, 64, 2, 2, 0, SWIZZLED)       \
  X(64, F16, B256K64E, 16, 1, 64, 2, 2, 0, EAGER)         \
  X(128, F16, B256K32, 16, 1, 32, 2, 2, 0, PLAIN)         \
  X(128, F16, B256K64X, 16, 1, 64, 2, 1, 0, SWIZZLED)     \
  X(128, F16, B128K32X, 8, 1, 32, 2, 2, 0, SWIZZLED)      \
  X(128, F16, B256K64E, 16, 1, 64, 2, 1, 0, EAGER)

#define SAGE_ALTERNATIVES_GFX9_F16(X)                     \
  X(64, F16, B256K64, 8, 1, 64, 2, 2, 2, PLAIN)           \
  X(64, F16, B128K128, 4, 1, 128, 2, 1, 2, PLAIN)         \
  X(128, F16, B256K64, 8, 1, 64, 2, 1, 2, PLAIN)          \
  X(128, F16, B128K32, 4, 1, 32, 2, 2, 2, PLAIN)

#define SAGE_ALTERNATIVES_GFX9_FP8(X)                     \
  X(64, FP8, B256K64, 8, 1, 64, 2, 2, 2, PLAIN)           \
  X(128, FP8, B256K64, 8, 1, 64, 2, 2, 2, PLAIN)          \
  X(128, FP8, B128K32, 4, 1, 32, 2, 2, 2, PLAIN)

#define SAGE_ALTERNATIVES_SM90_F16(X)                     \
  X(64, F16, B128K64S3, 8, 1, 64, 3, 3, 2, PLAIN)         \
  X(64, F16, B64K128, 4, 1, 128, 2, 2, 2, PLAIN)          \
  X(96, F16, B128K64S3, 8, 1, 64, 3, 3, 2, PLAIN)         \
  X(128, F16, B128K64S3, 8, 1, 64, 3, 3, 2, PLAIN)

#define SAGE_ALTERNATIVES_SM90_FP8(X)                     \
  X(96, FP8, B128K64, 8, 1, 64, 2, 2, 1, PLAIN)           \
  X(128, FP8, B128K64, 8, 1, 64, 2, 2, 1, PLAIN)

#define SAGE_ALTERNATIVES_NVIDIA_F16(X)                   \
  X(64, F16, B128K64, 4, 2, 64, 2, 2, 2, PLAIN)           \
  X(64, F16, B64K128, 4, 1, 128, 2, 2, 3, PLAIN)

#define SAGE_ALTERNATIVES_NVIDIA_FP8(X)                   \
  X(64, FP8, B128K64, 4, 2, 64, 2, 2, 2, PLAIN)           \
  X(64, FP8, B64K128, 4, 1, 128, 2, 2, 3, PLAIN)

#endif
