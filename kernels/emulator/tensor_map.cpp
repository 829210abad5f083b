#include "tensor_map.hpp"

#include <algorithm>
#include <iterator>

namespace sage_emulator {

BoxCopy box_copy(const TensorMap& map, const int (&first)[4]) {
  constexpr std::uint32_t element = 2;
  constexpr std::uint32_t unit = 16;
  const std::uint32_t row_bytes = map.box[0] * element;
  BoxCopy copy;
  copy.bytes = map.box[1] * row_bytes;
  const auto at = [&](int i) { return static_cast<std::uint64_t>(first[i]); };
  if (std::any_of(std::begin(first), std::end(first), [](int x) { return x < 0; }) || at(2) >= map.extents[2] || at(3) >= map.extents[3]) {
    return copy;
  }
  for (std::uint32_t row = 0; row < map.box[1] && at(1) + row < map.extents[1]; ++row) {
    const unsigned char* const from = map.base + (at(1) + row) * map.strides[0] + at(2) * map.strides[1] + at(3) * map.strides[2];
    for (std::uint32_t byte = 0; byte < row_bytes; byte += unit) {
      const std::uint64_t left = map.extents[0] * element;
      const std::uint64_t begin = at(0) * element + byte;
      if (begin >= left) break;
      const std::uint32_t to = row * row_bytes + byte;
      const std::uint32_t hash = to >> 7 & (map.swizzle_bytes / unit - 1);
      const std::uint32_t swizzled = to ^ hash * unit;
      if (left - begin >= unit) {
        copy.pieces.push_back({swizzled, from + begin, unit});
        continue;
      }
      // The tensor ends inside this unit.
      for (std::uint32_t i = 0; i < left - begin; i += element) copy.pieces.push_back({swizzled + i, from + begin + i, element});
    }
  }
  return copy;
}

}  // namespace sage_emulator
