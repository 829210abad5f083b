// Which kernel serves which class of shapes on one GPU, as measured there: the file tuning.txt beside the code objects.
//
//     sage-tuning 1
//     source <SHA-256 of the device text that the kernels were made from>
//     target gfx1201
//     gpu AMD Radeon RX 9070 XT
//     choice d64 F16 LONG dense sage_attention_d64_F16_B256K64Q32
//     end
//
// It is worth something only on the GPU that it was measured on, for kernels of the same source. A file that is damaged, or
// is about something else, is left aside with a reason: every kernel computes the same, so it never decides whether a call works.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "device/plan.hpp"

namespace sage::runtime {

inline constexpr std::string_view tuning_file = "tuning.txt";
inline constexpr std::size_t most_tuning_bytes = std::size_t{64} << 10U;

struct TunedClass {
  device::ShapeClass shape;
  std::string kernel;
};

struct Tuning {
  std::string source;
  std::string target;
  std::string gpu;  // empty where the driver has no name for it
  std::vector<TunedClass> choices;
};

// SHA-256 of the device text that this library's tile table belongs to.
[[nodiscard]] std::string_view device_text_digest();

// "d64 F16 LONG dense".
[[nodiscard]] std::string class_text(const device::ShapeClass& shape);

[[nodiscard]] std::string tuning_text(const Tuning& tuning);

// Takes any bytes. An empty result: it is fine; otherwise why it is not, and `tuning` means nothing.
[[nodiscard]] std::string read_tuning_text(std::string_view text, Tuning& tuning);

// The text of a folder's file. An empty text without a reason: there is none.
struct TuningFile {
  std::string text;
  std::string reason;
};
[[nodiscard]] TuningFile find_tuning(const char* folder);

// By class_index(): the tile that a choice leads to, null where there is none.
using ChosenTiles = std::array<const device::Tile*, device::shape_class_count>;

// An empty result: `chosen` is filled in. Otherwise why the tuning is not for this GPU or these kernels.
[[nodiscard]] std::string apply_tuning(const Tuning& tuning, device::Family family, std::string_view target,
                                       std::string_view gpu, ChosenTiles& chosen);

// A GPU's name as it can stand in a line: printable ASCII, at most 128 characters.
[[nodiscard]] std::string plain_name(std::string_view name);

}  // namespace sage::runtime
