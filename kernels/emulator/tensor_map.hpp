// The emulator's own meaning of the opaque bytes by which the copy engine of sm_90 knows a tensor of 2-byte elements, four dimensions, the innermost
// dense (device/plan.hpp, TensorView; CUDA driver API, cuTensorMapEncodeTiled).
#pragma once
#include <cstdint>
#include <vector>

namespace sage_emulator {

struct TensorMap {
  const unsigned char* base;
  std::uint64_t extents[4];
  std::uint64_t strides[3];  // bytes, of all dimensions but the innermost
  std::uint32_t box[2];      // of the two innermost; one of the others
  std::uint32_t swizzle_bytes;
};
static_assert(sizeof(TensorMap) <= 128);

// What a copy reads and where it puts it, relative to its destination. What no piece covers is zero.
struct CopyPiece {
  std::uint32_t to;
  const void* from;
  std::uint32_t bytes;
};
struct BoxCopy {
  std::uint32_t bytes = 0;
  std::vector<CopyPiece> pieces;
};
// The box that begins at these coordinates, innermost first. Its rows lie behind one another; the 16-byte units of a row are swizzled, which
// presumes a destination at a multiple of eight rows.
[[nodiscard]] BoxCopy box_copy(const TensorMap& map, const int (&first)[4]);

}  // namespace sage_emulator
