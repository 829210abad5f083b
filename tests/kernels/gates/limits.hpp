// What the code-object gates allow for each attention kernel.
//
// Registers and slots are those of clang 19.1.7, whose output does not change from run to run, plus a few per cent for
// its other patch releases. They are ratchets: lower them when a kernel gets better.
//
// What counts as a slot: every instruction on the way through one iteration of the loop and through its rescale body,
// including waits, s_delay_alu and barriers; the mask and the sum for log-sum-exp, which other iterations jump over, do
// not. `goal` is the figure, counted in the same way, of a trial kernel of the same shape that spilled nothing; where
// there was one, `slots` does not exceed it.
#pragma once

#include <span>
#include <string_view>

#include "device/plan.hpp"

namespace sage::gates {

struct Limit {
  std::string_view target;  // of a family whose members compile alike: the first one
  std::string_view kernel;
  int vgprs;
  int slots;  // hot + rescale
  int goal;   // 0: none known
};

[[nodiscard]] std::span<const Limit> limits();

// Null for a kernel without a row, which is a failure of the gate.
[[nodiscard]] const Limit* find_limit(std::string_view target, std::string_view kernel);

}  // namespace sage::gates
