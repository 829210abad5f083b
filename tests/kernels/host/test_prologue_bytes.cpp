// The bytes of a prologue against those that its tensors have.
#include <doctest/doctest.h>

#include "device/prologue_bytes.hpp"

using namespace sage::device;

namespace {

Problem problem(PvType pv) {
  Problem p;
  p.batch = 4;
  p.q_heads = p.kv_heads = 32;
  p.q_len = p.kv_len = 1024;
  p.head_dim = 128;
  p.pv = pv;
  return p;
}

const Tile& tile(Family family, PvType pv = PvType::f16) {
  return *find_tile(family, 128, pv, Length::long_q);
}

// Of a tensor of `p` with one byte an element.
std::int64_t elements(const Problem& p) { return std::int64_t{p.batch} * p.q_heads * p.q_len * p.head_dim; }

}  // namespace

TEST_CASE("prologue: Q, K and V are read, K twice; int8 Q and K and V^T are written") {
  const Problem p = problem(PvType::f16);
  for (const Family family : {Family::nvidia, Family::gfx12}) {
    const std::int64_t tensors = elements(p) * (4 * 2 + 1 + 1 + 2);
    const std::int64_t bytes = prologue_bytes(p, tile(family)).sum();
    CHECK(bytes > tensors);
    CHECK(bytes < tensors * 103 / 100);  // scales and partial sums
  }
}

TEST_CASE("prologue: for fp8 V is read once more and written in half as many bytes") {
  const Problem f16 = problem(PvType::f16);
  const Problem fp8 = problem(PvType::fp8);
  const std::int64_t more = prologue_bytes(fp8, tile(Family::nvidia, PvType::fp8)).sum() - prologue_bytes(f16, tile(Family::nvidia)).sum();
  CHECK(more == elements(f16) * (2 - 1));
}

TEST_CASE("prologue: what is not launched has no bytes, and launches share the same sum") {
  Problem p = problem(PvType::f16);
  const PrologueBytes early = prologue_bytes(p, tile(Family::nvidia));
  CHECK(early.finalise == 0);
  p.want_lse = true;  // Q waits for the mean of K
  const PrologueBytes late = prologue_bytes(p, tile(Family::nvidia));
  CHECK(late.sum() == early.sum());
  CHECK(late.statistics < early.statistics);
  p.smooth_k = false;
  const PrologueBytes plain = prologue_bytes(p, tile(Family::nvidia));
  CHECK(plain.statistics == 0);
  CHECK(plain.sum() < early.sum() - elements(p) * 2);
  CHECK(prologue_bytes(p, tile(Family::gfx12)).finalise == 0);
}

TEST_CASE("prologue: K and V of fewer heads are fewer bytes") {
  Problem p = problem(PvType::f16);
  const std::int64_t all = prologue_bytes(p, tile(Family::nvidia)).sum();
  p.kv_heads = 8;
  const std::int64_t some = prologue_bytes(p, tile(Family::nvidia)).sum();
  CHECK(all - some > elements(p) * (3 * 2 + 1 + 2) * 3 / 4);
  CHECK(some > elements(p) * 3);
}

TEST_CASE("prologue: of sm_90 only K where Q and V stay, K and V where V does not") {
  Problem p = problem(PvType::f16);
  const std::int64_t k = elements(p) * (2 + 2 + 1);
  CHECK(prologue_bytes(p, tile(Family::sm90)).sum() > k);
  CHECK(prologue_bytes(p, tile(Family::sm90)).sum() < k * 103 / 100);
  p.io_type = SAGE_TYPE_BF16;  // V is scaled: read for its maximum, then once more
  const std::int64_t kv = k + elements(p) * (2 + 2 + 2);
  CHECK(prologue_bytes(p, tile(Family::sm90)).sum() > kv);
  CHECK(prologue_bytes(p, tile(Family::sm90)).sum() < kv * 103 / 100);
}
