#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/checks/check.hpp"

namespace sage {

/// Which way to /dev/dxg a libhsa-runtime64 has (facts/wsl.md 2.1); wsl_copies.cpp tells the story.
enum class Reach {
  linked_in,
  opt_in,
  default_on,
  bridge_of_unknown_age,  ///< names librocdxg, version unknown or contradictory
  native_only,
  probably_native,  ///< names neither, but no version below 7.1 confirms it
  unknown,
};

/// One libhsa-runtime64 of the facts and its reach. Points into the facts.
struct Copy {
  const HsaCopy* hsa = nullptr;
  Reach reach = Reach::unknown;
  std::optional<Finding> why_unknown;  ///< the skip that names the fact
};

[[nodiscard]] std::vector<Copy> classified(const std::vector<HsaCopy>& all);

/// Loads librocdxg.so, at least when asked to.
[[nodiscard]] bool loads_bridge(const Copy& copy);
/// Has a way to /dev/dxg.
[[nodiscard]] bool capable(const Copy& copy);
/// Uses /dev/dxg only if HSA_ENABLE_DXG_DETECTION says so, or may be of the age that does (facts/wsl.md 2.1).
[[nodiscard]] bool wants_detection(const Copy& copy);
/// Has none, as far as one can see.
[[nodiscard]] bool native(const Copy& copy);

enum class BridgeSearch { found, not_found, unknown };

/// Would a bare-name dlopen from `hsa` find this librocdxg: loader cache, LD_LIBRARY_PATH or the caller's own run path?
[[nodiscard]] BridgeSearch search_for_bridge(const HsaCopy& hsa, const RocdxgCopy& bridge);

/// "ROCm 7.2.1" or "ROCm version unknown".
[[nodiscard]] std::string release(const HsaCopy& hsa);

[[nodiscard]] std::string reach_in_words(const Copy& copy);

/// One row of evidence for each copy.
void add_copies(const std::vector<Copy>& copies, Finding& finding);

/// The paths of those that are wanted.
[[nodiscard]] std::vector<std::string> paths_of(const std::vector<Copy>& copies, bool (*wanted)(const Copy&));

/// The skip of the first copy that could not be examined, said of the check as a whole.
[[nodiscard]] std::optional<Finding> first_unknown(const std::vector<Copy>& copies);

}  // namespace sage
