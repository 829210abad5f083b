// Plain matrix products that the emulated matrix instructions end in, fast enough for whole attention rows.
#pragma once
#include <cstdint>

namespace sage_emulator {

// d[m][n] += sum over k of a[m][k] * b[n][k]. 16-bit copies so that signed and unsigned bytes share one path.
template <int M, int N, int K>
void multiply_add(const std::int16_t (&a)[M][K], const std::int16_t (&b)[N][K], std::int32_t (&d)[M][N]) {
  for (int m = 0; m < M; ++m) {
    for (int n = 0; n < N; ++n) {
      std::int32_t sum = 0;
      for (int k = 0; k < K; ++k) sum += std::int32_t{a[m][k]} * std::int32_t{b[n][k]};
      d[m][n] += sum;
    }
  }
}

// d[m][n] += sum over k of a[m][k] * b[k][n], in f32, k ascending. The hardware's order is not published: tests use tolerances.
template <int M, int N, int K>
void multiply_add(const float (&a)[M][K], const float (&b)[K][N], float (&d)[M][N]) {
  for (int m = 0; m < M; ++m) {
    for (int k = 0; k < K; ++k) {
      for (int n = 0; n < N; ++n) d[m][n] += a[m][k] * b[k][n];
    }
  }
}

}  // namespace sage_emulator
