#include "doctor/checks/visibility.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "probes/base/text.hpp"

namespace sage {
namespace {

bool begins_with_ignoring_case(std::string_view text, std::string_view start) {
  return text.size() >= start.size() && to_lower(text.substr(0, start.size())) == to_lower(start);
}

// The GPU of `available` that a word names; nullopt when it names none, or more than one.
std::optional<std::size_t> named_gpu(std::string_view word, const std::vector<std::size_t>& available,
                                     const std::vector<std::string>& uuids) {
  if (const auto position = parse_number(word)) {
    if (*position >= available.size()) return std::nullopt;
    return available[*position];
  }
  constexpr std::string_view marker = "GPU-";
  if (!begins_with_ignoring_case(word, marker) || word.size() == marker.size()) return std::nullopt;
  std::optional<std::size_t> found;
  for (const std::size_t gpu : available) {
    if (!begins_with_ignoring_case(uuids[gpu], word)) continue;
    if (found) return std::nullopt;
    found = gpu;
  }
  return found;
}

enum class Repeats { end_the_list, are_passed_over };

std::vector<std::size_t> apply(const std::string& variable, std::string_view mask, Repeats repeats,
                               const std::vector<std::size_t>& available, const std::vector<std::string>& uuids,
                               std::vector<MaskProblem>& problems) {
  std::vector<std::size_t> chosen;
  if (trim(mask).empty()) return chosen;
  for (const std::string_view part : split(mask, ',')) {
    const std::string_view word = trim(part);
    if (word == "-1") break;  // the documented way to end a list
    const auto gpu = named_gpu(word, available, uuids);
    if (!gpu) {
      problems.push_back({variable, std::string(word), false, true});
      break;
    }
    if (std::find(chosen.begin(), chosen.end(), *gpu) != chosen.end()) {
      const bool cuts = repeats == Repeats::end_the_list;
      problems.push_back({variable, std::string(word), true, cuts});
      if (cuts) break;
      continue;
    }
    chosen.push_back(*gpu);
  }
  return chosen;
}

}  // namespace

Visibility simulate_visibility(const std::vector<std::string>& uuids, const VisibilityMasks& masks) {
  Visibility result;
  std::vector<std::size_t> all(uuids.size());
  std::iota(all.begin(), all.end(), std::size_t{0});

  result.rocr = masks.rocr ? apply("ROCR_VISIBLE_DEVICES", *masks.rocr, Repeats::end_the_list, all, uuids,
                                   result.problems)
                           : all;

  const bool hip_counts = masks.hip && !masks.hip->empty();
  const bool cuda_counts = !hip_counts && masks.cuda && !masks.cuda->empty();
  if (hip_counts || cuda_counts) {
    result.hip_variable = hip_counts ? "HIP_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES";
    result.hip = apply(result.hip_variable, hip_counts ? *masks.hip : *masks.cuda, Repeats::are_passed_over,
                       result.rocr, uuids, result.problems);
  } else {
    result.hip = result.rocr;
  }
  return result;
}

}  // namespace sage
