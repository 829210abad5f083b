#pragma once

#include <chrono>
#include <functional>

namespace sage {

/// Runs `work` in a child of this process with a private folder as working folder and TMPDIR (prepare_surroundings() was called there), and returns its exit
/// status. When it has ended, when `deadline` has passed, when this process is told to end or its parent is gone, every
/// descendant is killed and the folder removed. 1, with a line on stderr, when there is no place for the folder or the
/// child was killed.
[[nodiscard]] int guard(std::chrono::milliseconds deadline, const std::function<int()>& work);

}  // namespace sage
