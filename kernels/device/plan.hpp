// Host side of the argument block: tile choice, workspace layout, grids. Header only, C++17, no allocation.
//
// Used by the runtime, the gates and the emulated tests alike, so that what is tested is what is launched. It is not part of the
// device text.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "alternatives.hpp"
#include "params.hpp"
#include "tiles.hpp"

namespace sage::device {

enum class Family : std::uint8_t { gfx9, gfx11, gfx12, nvidia, sm90 };
constexpr bool is_nvidia(Family family) { return family == Family::nvidia || family == Family::sm90; }
enum class PvType : std::uint8_t { f16 = SAGE_PV_F16, fp8 = SAGE_PV_FP8 };
enum class Length : std::uint8_t { long_q, short_q };
enum class Form : std::uint8_t { plain = SAGE_FORM_PLAIN, swizzled = SAGE_FORM_SWIZZLED, eager = SAGE_FORM_EAGER };

struct Tile {
  Family family;
  int dp;
  PvType pv;
  Length length;
  int waves;
  int groups;
  int keys;
  int k_buffers;
  int v_buffers;
  int occupancy;
  const char* kernel;  // exported symbol
  Form form = Form::plain;
  bool alternative = false;  // of alternatives.hpp: `length` means nothing, only a choice leads to it

  // Whether four warps multiply together (device/hopper.hpp).
  [[nodiscard]] constexpr bool warpgroups() const { return family == Family::sm90 && dp != 256; }
  [[nodiscard]] constexpr int wave_size() const { return family == Family::gfx9 ? 64 : 32; }
  [[nodiscard]] constexpr int threads() const { return waves * wave_size(); }
  [[nodiscard]] constexpr int queries() const { return waves * groups * (family == Family::gfx9 ? 32 : 16); }
};

namespace detail {
constexpr PvType pv_F16 = PvType::f16;
constexpr PvType pv_FP8 = PvType::fp8;
constexpr Length length_LONG = Length::long_q;
constexpr Length length_SHORT = Length::short_q;
}  // namespace detail

#define SAGE_ROW_F(family_, name, d, p, l, w, g, k, kb, vb, o)                     \
  Tile{Family::family_, d, detail::pv_##p, detail::length_##l, w, g, k, kb, vb, o, \
       "sage_attention_" name "d" #d "_" #p "_" #l},
#define SAGE_ROW_GFX12(...) SAGE_ROW_F(gfx12, "", __VA_ARGS__)
#define SAGE_ROW_GFX11(...) SAGE_ROW_F(gfx11, "", __VA_ARGS__)
#define SAGE_ROW_GFX9(...) SAGE_ROW_F(gfx9, "", __VA_ARGS__)
#define SAGE_ROW_NVIDIA(...) SAGE_ROW_F(nvidia, "", __VA_ARGS__)
#define SAGE_ROW_SM90(...) SAGE_ROW_F(sm90, "sm90_", __VA_ARGS__)
// Symbols read sage_attention_d128_F16_LONG: the table's own words.
inline constexpr std::array tile_table = {
    SAGE_TILES_GFX12_F16(SAGE_ROW_GFX12) SAGE_TILES_GFX12_FP8(SAGE_ROW_GFX12) SAGE_TILES_GFX11_F16(SAGE_ROW_GFX11)
        SAGE_TILES_GFX9_F16(SAGE_ROW_GFX9) SAGE_TILES_GFX9_FP8(SAGE_ROW_GFX9) SAGE_TILES_NVIDIA_F16(SAGE_ROW_NVIDIA)
            SAGE_TILES_NVIDIA_FP8(SAGE_ROW_NVIDIA) SAGE_TILES_SM90_F16(SAGE_ROW_SM90) SAGE_TILES_SM90_FP8(SAGE_ROW_SM90)};
#undef SAGE_ROW_F
#undef SAGE_ROW_GFX12
#undef SAGE_ROW_GFX11
#undef SAGE_ROW_GFX9
#undef SAGE_ROW_NVIDIA
#undef SAGE_ROW_SM90

#define SAGE_ALTERNATIVE_F(family_, name, d, p, n, w, g, k, kb, vb, o, f)       \
  Tile{Family::family_, d, detail::pv_##p, Length::long_q, w, g, k, kb, vb, o, \
       "sage_attention_" name "d" #d "_" #p "_" #n, static_cast<Form>(SAGE_FORM_##f), true},
#define SAGE_ALTERNATIVE_GFX12(...) SAGE_ALTERNATIVE_F(gfx12, "", __VA_ARGS__)
#define SAGE_ALTERNATIVE_GFX11(...) SAGE_ALTERNATIVE_F(gfx11, "", __VA_ARGS__)
#define SAGE_ALTERNATIVE_GFX9(...) SAGE_ALTERNATIVE_F(gfx9, "", __VA_ARGS__)
#define SAGE_ALTERNATIVE_NVIDIA(...) SAGE_ALTERNATIVE_F(nvidia, "", __VA_ARGS__)
#define SAGE_ALTERNATIVE_SM90(...) SAGE_ALTERNATIVE_F(sm90, "sm90_", __VA_ARGS__)
inline constexpr std::array alternative_table = {
    SAGE_ALTERNATIVES_GFX12_F16(SAGE_ALTERNATIVE_GFX12) SAGE_ALTERNATIVES_GFX12_FP8(SAGE_ALTERNATIVE_GFX12)
        SAGE_ALTERNATIVES_GFX11_F16(SAGE_ALTERNATIVE_GFX11) SAGE_ALTERNATIVES_GFX9_F16(SAGE_ALTERNATIVE_GFX9)
            SAGE_ALTERNATIVES_GFX9_FP8(SAGE_ALTERNATIVE_GFX9) SAGE_ALTERNATIVES_NVIDIA_F16(SAGE_ALTERNATIVE_NVIDIA)
                SAGE_ALTERNATIVES_NVIDIA_FP8(SAGE_ALTERNATIVE_NVIDIA) SAGE_ALTERNATIVES_SM90_F16(SAGE_ALTERNATIVE_SM90)
                    SAGE_ALTERNATIVES_SM90_FP8(SAGE_ALTERNATIVE_SM90)};
#undef SAGE_ALTERNATIVE_F
#undef SAGE_ALTERNATIVE_GFX12
#undef SAGE_ALTERNATIVE_GFX11
#undef SAGE_ALTERNATIVE_GFX9
#undef SAGE_ALTERNATIVE_NVIDIA
#undef SAGE_ALTERNATIVE_SM90

// Both tables as one list: first the rows that every build has, then the alternatives.
inline constexpr std::size_t tile_count = tile_table.size() + alternative_table.size();
constexpr const Tile& tile_at(std::size_t index) {
  return index < tile_table.size() ? tile_table[index] : alternative_table[index - tile_table.size()];
}

// The kernels address a head's K and V^T by 32-bit byte offsets.
inline constexpr std::int64_t max_kv_len = std::int64_t{1} << 22;

static_assert(sizeof(SageArgs) == 328, "the argument block's layout is part of the kernels' interface");

constexpr std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }
constexpr std::int64_t ceil_div(std::int64_t value, std::int64_t step) { return (value + step - 1) / step; }

inline constexpr int key_padding = 128;
inline constexpr int keys_per_scale = 32;
inline constexpr int keys_per_chunk = 256;
inline constexpr int prologue_threads = 256;
inline constexpr int quantise_rows = 32;  // rows of Q or K per block of sage_quantise
inline constexpr int transpose_keys = 64;
inline constexpr const char* statistics_kernel = "sage_statistics";
inline constexpr const char* finalise_kernel = "sage_finalise";
inline constexpr const char* quantise_kernel = "sage_quantise";

// Padded head dim, 0 when head_dim is out of range.
constexpr int padded_head_dim(int head_dim) {
  if (head_dim < 1 || head_dim > 256) return 0;
  return head_dim <= 64 ? 64 : head_dim <= 96 ? 96 : head_dim <= 128 ? 128 : 256;
}

// Workgroups of 16 waves pay once there are enough queries to fill the GPU with them (about two thousand per head). Those of two warpgroups
// share what they read of K and V between twice as many queries: at 200 queries of 128 heads an H200 takes 18 microseconds with them and 24 with
// the short ones (head dims 96 and 128; no difference for 64). Head dim 256 has no warpgroups, and is slower so at 500 queries.
constexpr int fewest_long_queries(Family family, int dp) { return family != Family::sm90 ? 2048 : dp == 256 ? 512 : 256; }
constexpr Length tile_length(std::int64_t q_len, Family family, int dp) {
  return q_len >= fewest_long_queries(family, dp) ? Length::long_q : Length::short_q;
}

constexpr const Tile* find_tile(Family family, int dp, PvType pv, Length length) {
  for (const Tile& tile : tile_table) {
    if (tile.family == family && tile.dp == dp && tile.pv == pv && tile.length == length) return &tile;
  }
  return nullptr;
}

// Index in the list of both tables; tile_count for a name that no kernel of the family has.
constexpr std::size_t tile_index(Family family, std::string_view kernel) {
  for (std::size_t i = 0; i < tile_count; ++i) {
    if (tile_at(i).family == family && kernel == tile_at(i).kernel) return i;
  }
  return tile_count;
}

// Bytes of one K row and one V^T row in shared memory. AMD: row bytes + 16 (an odd multiple of 16 bytes: conflict-free 16-byte
// reads), or a swizzle. NVIDIA: XOR swizzle in place of padding, which needs a power of two of 16-byte units.
constexpr int k_row_bytes(Family family, int dp, Form form = Form::plain) {
  if (!is_nvidia(family)) return form == Form::swizzled ? dp : dp + 16;
  return dp == 96 ? 128 : dp;
}
constexpr int v_row_bytes(Family family, int keys, PvType pv, Form form = Form::plain) {
  const int bytes = keys * (pv == PvType::f16 ? 2 : 1);
  return is_nvidia(family) || form == Form::swizzled ? bytes : bytes + 16;
}

// Of the rows of V that sm_90 takes as they are: the channels that one swizzle spans (MappedCopies in device/nvidia_tiles.hpp).
constexpr int value_chunk_bytes(int dp) { return dp % 64 == 0 ? 128 : 64; }

// Units of 16 bytes that a thread keeps in shared memory for want of registers.
constexpr int kept_units(const Tile& tile) {
  if (!is_nvidia(tile.family)) return 0;
  const bool fp8 = tile.pv == PvType::fp8;
  const bool second_accumulators = tile.warpgroups() && fp8 && tile.dp > 96;
  const int walk = tile.warpgroups() ? 0 : 3;  // which is the warp's there
  return tile.groups > 1 || tile.keys > 64 || (tile.dp > 128 && !fp8) || second_accumulators ? walk + tile.groups * (fp8 ? 2 : 1) : 0;
}

// Shared memory of an attention kernel in bytes. NVIDIA keeps the quantised Q rows there too.
constexpr int tile_lds_bytes(const Tile& tile) {
  const int k_tile = tile.keys * k_row_bytes(tile.family, tile.dp, tile.form);
  const int v_tile = tile.dp * v_row_bytes(tile.family, tile.keys, tile.pv, tile.form);
  const int q_tile = is_nvidia(tile.family) ? tile.queries() * k_row_bytes(tile.family, tile.dp) : 0;
  // Of warpgroups: two barriers of 8 bytes a buffer, 32 of where tiles come from, 32 a warp, and
  // ones: as many as a KiB for 64 keys of V^T, or as one chunk of rows of V.
  const int ones = tile.pv == PvType::fp8 ? tile.keys / 64 * 1024 : tile.keys * value_chunk_bytes(tile.dp);
  const int barriers = tile.warpgroups() ? tile.k_buffers * (16 + ones) + 32 + tile.waves * 32 : 0;
  return tile.k_buffers * k_tile + tile.v_buffers * v_tile + q_tile + tile.threads() * kept_units(tile) * 16 + barriers;
}

// Matrix instructions in one pass of the loop, for checking compiled kernels. `wide`: on gfx942 the int8 instruction takes 16 k (gfx90a: 8);
// on sm_89 the fp8 one takes 32 keys (sm_90: two f16 ones of 16).
constexpr int tile_matrix_instructions(const Tile& tile, bool wide) {
  const bool fp8 = tile.pv == PvType::fp8;
  switch (tile.family) {
    case Family::gfx11:
    case Family::gfx12:
      return 2 * tile.groups * (tile.keys / 16) * (tile.dp / 16);
    case Family::gfx9:
      return tile.groups * (tile.keys / 32 * (tile.dp / (wide ? 16 : 8)) + tile.keys / (fp8 ? 16 : 8) * (tile.dp / 32));
    case Family::sm90:
      if (tile.warpgroups()) return tile.keys / 64 * (tile.dp / 32 + (fp8 ? 2 : 4));
      [[fallthrough]];
    case Family::nvidia:  // the last term: one column of ones sums the rows of P
      return tile.groups * (tile.keys / 8 * (tile.dp / 32) + tile.keys / (fp8 && wide ? 32 : 16) * (tile.dp / 8 + 1));
  }
  return 0;
}

// What a caller asks for. All pointers and strides are filled by the caller afterwards (see fill_workspace()).
struct Problem {
  int batch = 1;
  int q_heads = 1;
  int kv_heads = 1;
  int q_len = 0;
  int kv_len = 0;
  int head_dim = 0;
  int mask = SAGE_MASK_NONE;
  int io_type = SAGE_TYPE_F16;
  PvType pv = PvType::f16;
  bool smooth_k = true;
  bool want_lse = false;
};

// What a kernel is chosen for. Without a choice (runtime/tuning.hpp) the length alone decides between the two rows of tile_table.
struct ShapeClass {
  int dp = 64;
  PvType pv = PvType::f16;
  Length length = Length::long_q;
  bool causal = false;

  friend constexpr bool operator==(const ShapeClass& a, const ShapeClass& b) {
    return a.dp == b.dp && a.pv == b.pv && a.length == b.length && a.causal == b.causal;
  }
};

inline constexpr std::array padded_head_dims = {64, 96, 128, 256};
inline constexpr std::size_t shape_class_count = padded_head_dims.size() * 8;

constexpr ShapeClass class_of(const Problem& p, Family family) {
  return {padded_head_dim(p.head_dim), p.pv, tile_length(p.q_len, family, padded_head_dim(p.head_dim)), p.mask != SAGE_MASK_NONE};
}
// 0 .. shape_class_count - 1.
constexpr std::size_t class_index(const ShapeClass& c) {
  std::size_t dim = 0;
  while (dim + 1 < padded_head_dims.size() && padded_head_dims[dim] != c.dp) ++dim;
  return ((dim * 2 + (c.pv == PvType::fp8 ? 1 : 0)) * 2 + (c.length == Length::short_q ? 1 : 0)) * 2 + (c.causal ? 1 : 0);
}
constexpr ShapeClass class_at(std::size_t index) {
  return {padded_head_dims[index / 8], index / 4 % 2 == 0 ? PvType::f16 : PvType::fp8,
          index / 2 % 2 == 0 ? Length::long_q : Length::short_q, index % 2 != 0};
}

// Byte offsets in the workspace, each a multiple of 256.
struct Workspace {
  std::int64_t q8 = 0, k8 = 0, vt = 0, q_scale = 0, k_scale = 0, v_scale = 0, k_mean = 0, q_mean = 0, partial = 0;
  std::int64_t bytes = 0;
};

constexpr bool needs_v_maximum(const Problem& p) { return p.pv == PvType::fp8 || p.io_type == SAGE_TYPE_BF16; }
// sage_statistics and sage_finalise are launched only then (and only when kv_len > 0).
constexpr bool needs_statistics(const Problem& p) { return p.kv_len > 0 && (p.smooth_k || needs_v_maximum(p)); }
constexpr bool needs_q_mean(const Problem& p) { return p.smooth_k && p.want_lse && p.kv_len > 0; }

// Bytes of an int8 row of Q or K in the workspace: NVIDIA stores rows as they lie in shared memory.
constexpr std::int64_t stored_row(std::int64_t dp) { return dp == 96 ? 128 : dp; }

constexpr Workspace workspace_layout(const Problem& p, const Tile& tile) {
  const std::int64_t dp = padded_head_dim(p.head_dim);
  const std::int64_t key_padded = round_up(p.kv_len, key_padding);
  const std::int64_t q_rows = std::int64_t{p.batch} * p.q_heads * p.q_len;
  const std::int64_t kv = std::int64_t{p.batch} * p.kv_heads;
  Workspace w;
  std::int64_t end = 0;
  const auto take = [&end](std::int64_t bytes) {
    const std::int64_t at = end;
    end = round_up(end + bytes, 256);
    return at;
  };
  w.q8 = take(tile.warpgroups() ? 0 : q_rows * stored_row(dp));
  w.k8 = take(kv * key_padded * stored_row(dp));
  w.vt = take(kv * key_padded * dp * (p.pv == PvType::f16 ? 2 : 1));
  w.q_scale = take(tile.warpgroups() ? 0 : q_rows * 4);
  w.k_scale = take(kv * (key_padded / keys_per_scale) * 4);
  w.v_scale = take(kv * dp * 4);
  w.k_mean = take(p.smooth_k ? kv * dp * 4 : 0);
  w.q_mean = take(needs_q_mean(p) && !tile.warpgroups() ? q_rows * 4 : 0);
  w.partial = take(needs_statistics(p) ? kv * ceil_div(p.kv_len, keys_per_chunk) * 2 * dp * 4 : 0);
  w.bytes = end;
  return w;
}

// Blocks of the prologue on NVIDIA (device/nvidia_prologue.hpp).
namespace nvidia_prologue {
inline constexpr int most_chunks = 16;  // whose partial sums every block of sage_quantise adds up
constexpr int key_rows(int dp) { return dp == 64 ? 256 : dp == 256 ? 32 : 128; }
constexpr int query_rows(int dp) { return dp == 64 ? 128 : dp == 256 ? 32 : 64; }
constexpr int value_keys(int dp) { return dp == 64 ? 128 : 64; }
// Fewer where the slices alone fill the GPU.
constexpr std::int64_t chunks(std::int64_t kv_len, std::int64_t slices) {
  const std::int64_t most = slices >= 64 ? most_chunks / 2 : most_chunks;
  return ceil_div(kv_len, keys_per_chunk) < most ? ceil_div(kv_len, keys_per_chunk) : most;
}
}  // namespace nvidia_prologue

// Grids. A product above 2^31-1 must be refused by the caller.
struct Grids {
  std::int64_t statistics = 0;  // 0: do not launch
  std::int64_t finalise = 0;
  std::int64_t quantise = 0;
  std::int64_t attention = 0;
};

// True when 16-byte accesses are allowed for a tensor of 2-byte elements.
inline bool is_vector_aligned(const void* base, const SageStrides& stride) {
  return stride.dim == 1 && reinterpret_cast<std::uintptr_t>(base) % 16 == 0 && stride.batch % 8 == 0 && stride.head % 8 == 0 &&
         stride.token % 8 == 0;
}

// What a tile of sm_90 has of V: a view in which the copy engine finds [batch][head][token][element] of 2 bytes, and the box of elements and
// tokens that one copy brings (device/hopper.hpp). Strides in bytes, of token, head and batch.
struct TensorView {
  const void* base = nullptr;
  std::uint64_t extents[4] = {};
  std::uint64_t strides[3] = {};
  std::uint32_t box[2] = {};
  std::uint32_t swizzle_bytes = 0;
};
constexpr bool reads_value_rows(const Tile& tile) { return tile.warpgroups() && tile.pv == PvType::f16; }

// Whether the attention kernel reads the caller's V: f16 as it is, in strides that the engine takes (CUDA driver API, cuTensorMapEncodeTiled:
// positive multiples of 16 bytes below 2^40).
inline bool values_in_place(const SageArgs& a, const Tile& tile) {
  const auto takes = [](std::int64_t stride, int extent) { return extent <= 1 || (stride > 0 && stride < (std::int64_t{1} << 39)); };
  const SageStrides& s = a.v_stride;
  const bool rows_apart = a.kv_len <= 1 || s.token >= a.head_dim;
  return reads_value_rows(tile) && a.io_type == SAGE_TYPE_F16 && a.v_vector != 0 && rows_apart && takes(s.token, a.kv_len) &&
         takes(s.head, a.kv_heads) && takes(s.batch, a.batch);
}

// For filled arguments, of a tile that reads_value_rows().
inline TensorView value_view(const SageArgs& a, const Tile& tile) {
  const bool in_place = values_in_place(a, tile);
  const std::int64_t tokens = in_place ? a.kv_len : a.key_padded;
  const std::int64_t elements = in_place ? a.head_dim : a.dp;
  const SageStrides packed{a.kv_heads * tokens * elements, tokens * elements, elements, 1};
  const SageStrides& s = in_place ? a.v_stride : packed;
  // The stride of an extent of one means nothing, and may be anything.
  const auto bytes = [](std::int64_t stride, int extent) { return static_cast<std::uint64_t>(extent <= 1 ? 16 : stride * 2); };
  TensorView view;
  view.base = in_place ? a.v : a.vt;
  view.extents[0] = static_cast<std::uint64_t>(elements);
  view.extents[1] = static_cast<std::uint64_t>(tokens);
  view.extents[2] = static_cast<std::uint64_t>(a.kv_heads);
  view.extents[3] = static_cast<std::uint64_t>(a.batch);
  view.strides[0] = bytes(s.token, static_cast<int>(tokens));
  view.strides[1] = bytes(s.head, a.kv_heads);
  view.strides[2] = bytes(s.batch, a.batch);
  view.swizzle_bytes = static_cast<std::uint32_t>(value_chunk_bytes(a.dp));
  view.box[0] = view.swizzle_bytes / 2;
  view.box[1] = static_cast<std::uint32_t>(tile.keys);
  return view;
}

// Fills everything but the caller's own fields (q, k, v, out, lse, strides, sm_scale), which must be set before.
inline Grids fill_args(SageArgs& a, const Problem& p, const Tile& tile, void* workspace) {
  const Workspace w = workspace_layout(p, tile);
  auto* const base = static_cast<unsigned char*>(workspace);
  const auto floats = [base](std::int64_t offset) { return reinterpret_cast<float*>(base + offset); };
  const std::int64_t kv = std::int64_t{p.batch} * p.kv_heads;
  const std::int64_t q_rows = std::int64_t{p.batch} * p.q_heads;
  a.q8 = reinterpret_cast<signed char*>(base + w.q8);
  a.k8 = reinterpret_cast<signed char*>(base + w.k8);
  a.vt = base + w.vt;
  a.q_scale = floats(w.q_scale);
  a.k_scale = floats(w.k_scale);
  a.v_scale = floats(w.v_scale);
  a.k_mean = p.smooth_k && p.kv_len > 0 ? floats(w.k_mean) : nullptr;
  a.q_mean = needs_q_mean(p) ? floats(w.q_mean) : nullptr;
  a.partial = needs_statistics(p) ? floats(w.partial) : nullptr;
  a.batch = p.batch;
  a.q_heads = p.q_heads;
  a.kv_heads = p.kv_heads;
  a.q_len = p.q_len;
  a.kv_len = p.kv_len;
  a.head_dim = p.head_dim;
  a.dp = padded_head_dim(p.head_dim);
  a.key_padded = static_cast<int>(round_up(p.kv_len, key_padding));
  a.kv_chunks = static_cast<int>(ceil_div(p.kv_len, keys_per_chunk));
  a.q_blocks = static_cast<int>(q_rows * ceil_div(p.q_len, quantise_rows));
  a.k_blocks = static_cast<int>(kv * (a.key_padded / quantise_rows));
  a.v_blocks = static_cast<int>(kv * (a.key_padded / transpose_keys));
  a.q_tiles = static_cast<int>(ceil_div(p.q_len, tile.queries()));
  a.mask = p.mask;
  a.io_type = p.io_type;
  a.pv_type = static_cast<int>(p.pv);
  a.v_scaled = needs_v_maximum(p) && p.kv_len > 0 ? 1 : 0;
  a.q_vector = is_vector_aligned(a.q, a.q_stride) ? 1 : 0;
  a.k_vector = is_vector_aligned(a.k, a.k_stride) ? 1 : 0;
  a.v_vector = is_vector_aligned(a.v, a.v_stride) ? 1 : 0;
  a.out_vector = is_vector_aligned(a.out, a.out_stride) ? 1 : 0;
  Grids g;
  if (is_nvidia(tile.family)) {
    a.kv_chunks = static_cast<int>(nvidia_prologue::chunks(p.kv_len, kv));
    const std::int64_t q_blocks = tile.warpgroups() ? 0 : q_rows * ceil_div(p.q_len, nvidia_prologue::query_rows(a.dp));
    const std::int64_t k_blocks = kv * ceil_div(a.key_padded, nvidia_prologue::key_rows(a.dp));
    const std::int64_t v_blocks = values_in_place(a, tile) ? 0 : kv * (a.key_padded / nvidia_prologue::value_keys(a.dp));
    a.q_blocks = static_cast<int>(q_blocks);
    a.k_blocks = static_cast<int>(k_blocks);
    a.v_blocks = static_cast<int>(v_blocks);
    const bool first = needs_statistics(p);  // is there a launch of sage_statistics?
    const bool early_q = first && a.q_mean == nullptr;
    const bool early_v = first && a.v_scaled == 0;
    g.statistics = first ? kv * a.kv_chunks + (early_q ? q_blocks : 0) + (early_v ? v_blocks : 0) : 0;
    g.quantise = k_blocks + (early_q ? 0 : q_blocks) + (early_v ? 0 : v_blocks);
    g.attention = q_rows * a.q_tiles;
    return g;
  }
  g.statistics = needs_statistics(p) ? kv * a.kv_chunks : 0;
  g.finalise = needs_statistics(p) ? kv : 0;
  g.quantise = q_rows * ceil_div(p.q_len, quantise_rows) + kv * (a.key_padded / quantise_rows) + kv * (a.key_padded / transpose_keys);
  g.attention = q_rows * a.q_tiles;
  return g;
}

}  // namespace sage::device
