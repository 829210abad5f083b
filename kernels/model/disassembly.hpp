// Counts instructions in what llvm-objdump prints for an AMDGPU code object.
//
// The loop over keys decides the speed of an attention kernel, and on RDNA its time is nearly the number of issued
// instructions plus the matrix instructions' cycles. So the loop is found (the smallest backward jump around the most
// matrix instructions), and two ways through it are counted: the shortest one that runs all matrix instructions, and
// the shortest of those that also run all exponentials, because the block that rescales the output when a row's maximum
// grows has one. What is on neither (masks of the last tiles, sums that only log-sum-exp needs) is rare. These are
// static counts of the compiler's output. They are no measurement of time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sage::model {

struct Instruction {
  std::uint64_t address = 0;
  std::string mnemonic;
  std::int64_t target = -1;  // of a branch: address; -1 for others
};

using Functions = std::map<std::string, std::vector<Instruction>>;

// `listing` is the output of `llvm-objdump -d`.
[[nodiscard]] Functions parse_listing(std::string_view listing);

struct MatrixCount {
  int int8 = 0;
  int f16 = 0;
  int fp8 = 0;
  [[nodiscard]] int total() const { return int8 + f16 + fp8; }
};

struct LoopCount {
  MatrixCount whole_kernel;
  MatrixCount matrix;  // in the loop
  int hot = 0;         // on the shortest way; matrix instructions, waits and delays included
  int rescale = 0;     // more on the way with the rescale body
  int rare = 0;        // on neither
  int waits = 0;       // of hot: s_wait*, s_nop, s_delay_alu
  [[nodiscard]] int slots() const { return hot + rescale; }
};

[[nodiscard]] LoopCount count(const std::vector<Instruction>& function);

}  // namespace sage::model
