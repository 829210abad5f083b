// What RDNA3 and RDNA4 share: accumulators of 8 values a lane, and how to spend few issue slots beside the matrix instructions, which
// run alone: every other instruction's slot is added to the kernel's time.
#if (defined(SAGE_ON_AMD) && (defined(__GFX11__) || defined(__GFX12__))) || defined(SAGE_ON_HOST)

namespace sage_device {

// How the rows of a tile lie in shared memory. Offsets are of a row's first byte plus `byte`, a multiple of 8; `bytes` is a row's length.
//
// Plain: rows are `bytes` + 16 apart, an odd multiple of 16, so that a fragment's rows start in different banks. Swizzled: rows lie without
// gaps, and a row's units of 16 bytes are exchanged by XOR with a hash of the row: the same reads, in less shared memory, for an XOR
// at the places where a lane walks along its row. The hash has period 8, and fragments are whole multiples of 8 rows apart.
template <int kForm>
struct SharedRows {
  static SAGE_FN constexpr int pitch(const int bytes) { return kForm == SAGE_FORM_SWIZZLED ? bytes : bytes + 16; }
  static SAGE_FN constexpr u32 hash(const u32 row, const int bytes) {
    return (bytes >= 128 ? row : bytes == 64 ? row / 2 : row / 4) & static_cast<u32>((bytes < 128 ? bytes : 128) / 16 - 1);
  }
  static SAGE_FN u32 unit(const u32 row, const u32 byte, const int bytes) {
    if constexpr (kForm == SAGE_FORM_SWIZZLED) return row * bytes + (byte ^ 16 * hash(row, bytes));
    return row * pitch(bytes) + byte;
  }
  // From a lane's first unit, at `lane` bytes, to the one `row` rows (a multiple of 8) and `byte` bytes further.
  static SAGE_FN u32 step(const u32 lane, const u32 row, const u32 byte, const int bytes) {
    if constexpr (kForm == SAGE_FORM_SWIZZLED) return row * bytes + (((lane & (bytes - 1)) ^ byte) - (lane & (bytes - 1)));
    return unit(row, byte, bytes);
  }
};

struct Rdna : Amd {
  struct Scores {
    i32x8 tile[2];
  };
  static SAGE_FN int bits(const Scores& s, const int i) { return s.tile[i / 8][i % 8]; }
  static SAGE_FN void set_bits(Scores& s, const int i, const int x) { s.tile[i / 8][i % 8] = x; }

  // What scores start from, held in registers through the loop: the matrix instruction takes it as its C operand. Head dim 256 has no
  // registers left for it and sets them anew for every tile.
  typedef i32x8 Seed;
  template <int kDp>
  static SAGE_FN Seed seed(const int magic) {
    Seed x;
    SAGE_UNROLL for (int i = 0; i < 8; ++i) x[i] = magic;
    return kDp <= 128 ? held(x) : x;
  }
  static SAGE_FN void start(Scores& s, const Seed& seed) {
    s.tile[0] = seed;
    s.tile[1] = seed;
  }

  // Row sums: a lane holds half of its row.
  struct Sum {
    float x;
  };
  static SAGE_FN void clear(Sum& sum) { sum.x = 0.0f; }
  static SAGE_FN void scale(Sum& sum, const float (&alpha)[1]) { sum.x *= alpha[0]; }
  static SAGE_FN float total(const Sum& sum, int) { return row_total(sum.x); }

  // The other lane half's value for the same query. The last argument only tells the compiler that no old value shows through.
  static SAGE_FN u32 other_half_bits(const u32 x) {
    return static_cast<u32>(__builtin_amdgcn_permlanex16(x, x, 0x76543210, 0xfedcba98, false, true));
  }
  static SAGE_FN float other_half(const float x) { return bits_as<float>(other_half_bits(bits_as<u32>(x))); }
  static SAGE_FN float row_total(const float x) { return x + other_half(x); }
  static SAGE_FN float row_max(const float x) { return max(x, other_half(x)); }
  static SAGE_FN bool any(const bool x) {
#if defined(SAGE_ON_HOST) || SAGE_HAS_BUILTIN(__builtin_amdgcn_ballot_w32)
    return __builtin_amdgcn_ballot_w32(x) != 0;
#else
    return __builtin_amdgcn_uicmp(static_cast<u32>(x), 0u, 33) != 0;  // 33: not equal
#endif
  }

  struct Out {
    f32x8 x;
  };
  static SAGE_FN void clear(Out& out) {
    SAGE_UNROLL for (int e = 0; e < 8; ++e) out.x[e] = 0.0f;
  }
  // Two multiplications go into one issue slot if their operands lie in different register banks: neighbouring values do, and so do the
  // halves of a register pair, hence the factor twice.
  static SAGE_FN void scale(Out& out, const float (&alpha)[1]) {
    const f32x2 twice = held(f32x2{alpha[0], alpha[0]});
    SAGE_UNROLL for (int e = 0; e < 8; ++e) out.x[e] = out.x[e] * twice[e % 2];
  }
  static SAGE_FN float value(const Out& out, const int e, int) { return out.x[e]; }
};

}  // namespace sage_device

#endif
