#include "family.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "code_object/target.hpp"

namespace sage::runtime {
namespace {

using device::Family;

struct Row {
  std::string_view processor;
  FamilySupport support;
};

// gfx950 is left out although it has these instructions: its e4m3 is OCP where gfx942 has FNUZ, and no kernel was
// checked for it.
constexpr auto rows = std::to_array<Row>({
    {"gfx90a", {Family::gfx9, false}},
    {"gfx942", {Family::gfx9, true}},
    {"gfx1100", {Family::gfx11, false}},
    {"gfx1101", {Family::gfx11, false}},
    {"gfx1102", {Family::gfx11, false}},
    {"gfx1103", {Family::gfx11, false}},
    {"gfx1150", {Family::gfx11, false}},
    {"gfx1151", {Family::gfx11, false}},
    {"gfx1152", {Family::gfx11, false}},
    {"gfx1153", {Family::gfx11, false}},
    {"gfx1200", {Family::gfx12, true}},
    {"gfx1201", {Family::gfx12, true}},
});

}  // namespace

std::optional<FamilySupport> family_of(std::string_view processor) {
  const auto* const found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.processor == processor; });
  if (found == rows.end()) return std::nullopt;
  return found->support;
}

std::vector<std::string_view> processors_with_kernels() {
  std::vector<std::string_view> names;
  for (const Row& row : rows) names.push_back(row.processor);
  return names;
}

std::optional<FamilySupport> family_of_sm(unsigned sm) {
  if (sm < 80) return std::nullopt;
  // wgmma is in 9.0 and in no other.
  return FamilySupport{sm == 90 ? Family::sm90 : Family::nvidia, sm >= 89};
}

std::optional<FamilySupport> family_of_target(std::string_view target) {
  constexpr std::string_view nvidia = "sm_";
  if (!target.starts_with(nvidia)) {
    const auto id = code_object::parse_target_id(target);
    return id ? family_of(id->processor) : std::nullopt;
  }
  constexpr unsigned largest_sm = 999;
  unsigned sm = 0;
  const char* const end = target.data() + target.size();
  const auto read = std::from_chars(target.data() + nvidia.size(), end, sm);
  if (read.ec != std::errc{} || read.ptr != end || sm > largest_sm) return std::nullopt;
  return family_of_sm(sm);
}

}  // namespace sage::runtime
