#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace sage {

/// How guarded work ended.
struct GuardEnd {
  std::optional<int> status;  ///< as of waitpid(2); nullopt: the deadline passed, we were told to end, or there is a problem
  bool timed_out = false;
  std::uint64_t peak_memory_bytes = 0;  ///< of the largest process among the descendants
  std::chrono::milliseconds processor_time{};  ///< of all descendants
  std::string problem;                  ///< why nothing was started; empty: it was
};

/// Runs `work` in a child of this process with a private folder as working folder and TMPDIR (prepare_surroundings() was called there), and returns its exit
/// status. When it has ended, when `deadline` has passed, when this process is told to end or its parent is gone, every
/// descendant is killed and the folder removed. 1, with a line on stderr, when there is no place for the folder or the
/// child was killed.
[[nodiscard]] int guard(std::chrono::milliseconds deadline, const std::function<int()>& work);

/// As guard(), but tells the end in full and prints nothing.
[[nodiscard]] GuardEnd guard_closely(std::chrono::milliseconds deadline, const std::function<int()>& work);

}  // namespace sage
