// What RDNA3 and RDNA4 share: accumulators of 8 values a lane, and how to spend few issue slots beside the matrix instructions, which
// run alone: every other instruction's slot is added to the kernel's time.
#if (defined(SAGE_ON_AMD) && (defined(__GFX11__) || defined(__GFX12__))) || defined(SAGE_ON_HOST)

namespace sage_device {

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
