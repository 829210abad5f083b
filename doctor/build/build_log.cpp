#include "doctor/build/build_log.hpp"

#include "probes/proof_child/device_command.hpp"

namespace sage {
namespace {

std::string state_in_words(const UnitResult& unit) {
  switch (unit.state) {
    case UnitState::ready: return std::string(enum_name(unit.origin));
    case UnitState::left_out: return "left out";
    case UnitState::failed: return "failed";
    case UnitState::not_tried: break;
  }
  return "not tried";
}

}  // namespace

void BuildLog::add(const TargetResult& result, const Toolchain* compiler) {
  text_ += "== " + result.target + ", " + (compiler == nullptr ? "no compiler" : compiler->path) + "\n\n";
  for (const UnitResult& unit : result.units) {
    text_ += "-- " + unit.unit.name + ": " + state_in_words(unit) + "\n";
    if (!unit.command.empty()) text_ += "$ " + pasteable(unit.command) + "\n";
    if (!unit.log.empty()) text_ += unit.log + (unit.log.ends_with('\n') ? "" : "\n");
    for (const std::string& warning : unit.warnings) text_ += "warning: " + warning + "\n";
    for (const std::string& note : unit.notes) text_ += "note: " + note + "\n";
    if (unit.failure) text_ += "cause: " + unit.failure->cause + "\nremedy: " + unit.failure->remedy + "\n";
    text_ += "\n";
  }
}

}  // namespace sage
