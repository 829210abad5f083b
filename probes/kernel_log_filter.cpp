#include "probes/kernel_log_filter.hpp"

#include <algorithm>
#include <array>

#include "probes/base/text.hpp"

namespace sage {
namespace {

// facts/gfx.md 3 (KFD messages), facts/wsl.md 2.10 (dxgkio), facts/bugs.md B22 and B23 (refused module, firmware).
constexpr std::array<std::string_view, 11> kept_words = {
    "amdgpu",
    "kfd",
    "dxg",
    "drm",
    "IOMMU",
    "AMD-Vi",
    "Lockdown",
    "Key was rejected",
    "module verification failed",
    "Direct firmware load",
    "Loading of unsigned module",
};

// Length of "<...>" or "[...]" at the start when the inside holds only what stamps are made of; else 0.
std::size_t stamp_length(std::string_view line) {
  if (line.empty() || (line.front() != '<' && line.front() != '[')) return 0;
  const char closing = line.front() == '<' ? '>' : ']';
  const std::size_t end = line.find(closing);
  if (end == std::string_view::npos) return 0;
  std::string_view inside = trim(line.substr(1, end - 1));
  // The caller id of CONFIG_PRINTK_CALLER: a thread "T123" or a CPU "C4".
  if (line.front() == '[' && (inside.starts_with('T') || inside.starts_with('C'))) inside.remove_prefix(1);
  const bool stamp = !inside.empty() && inside.find_first_not_of("0123456789.") == std::string_view::npos;
  return stamp ? end + 1 : 0;
}

}  // namespace

bool kernel_log_line_kept(std::string_view line) {
  return std::any_of(kept_words.begin(), kept_words.end(),
                     [&](std::string_view word) { return contains_ignoring_case(line, word); });
}

std::string without_log_stamp(std::string_view line) {
  while (const std::size_t length = stamp_length(line)) {
    line.remove_prefix(length);
    while (line.starts_with(' ')) line.remove_prefix(1);
  }
  return std::string(line);
}

}  // namespace sage
