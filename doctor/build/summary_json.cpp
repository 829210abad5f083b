#include <nlohmann/json.hpp>

#include "doctor/build/summary.hpp"
#include "doctor/report/redacted_json.hpp"

namespace sage {
namespace {

using Json = nlohmann::ordered_json;

constexpr int schema_version = 1;

const char* state_name(BuildOutcome::State state) {
  switch (state) {
    case BuildOutcome::State::installed: return "installed";
    case BuildOutcome::State::up_to_date: return "up-to-date";
    case BuildOutcome::State::interrupted: return "interrupted";
    case BuildOutcome::State::failed: break;
  }
  return "failed";
}

Json failures_of(const TargetOutcome& target) {
  Json failures = Json::array();
  for (const UnitResult& unit : target.result.units) {
    if (!unit.failure) continue;
    const BuildFailure& failure = *unit.failure;
    failures.push_back({{"unit", unit.unit.name},
                        {"id", failure.id},
                        {"cause", failure.cause},
                        {"remedy", failure.remedy},
                        {"evidence", failure.evidence}});
  }
  return failures;
}

}  // namespace

std::string build_json(const BuildOutcome& outcome, const BuildHints& hints, Redaction redaction) {
  Json json = {{"schema_version", schema_version}, {"state", state_name(outcome.state)}, {"prefix", outcome.prefix}};
  json["folder"] = outcome.folder.empty() ? Json(nullptr) : Json(outcome.folder);
  json["executed_on_gpu"] = outcome.ran_on_gpu();
  const bool there = !outcome.manifest.targets.empty();
  json["manifest"] = there ? Json::parse(manifest_text(outcome.manifest)) : Json(nullptr);
  json["problems"] = outcome.problems;
  json["notes"] = outcome.notes;
  Json targets = Json::array();
  for (const TargetOutcome& target : outcome.targets) {
    Json passed_over = Json::array();
    for (const auto& [compiler, reason] : target.passed_over) passed_over.push_back({{"compiler", compiler}, {"reason", reason}});
    targets.push_back({{"target", target.target}, {"passed_over", passed_over}, {"failures", failures_of(target)}});
  }
  json["targets"] = targets;
  json["findings"] = Json::array();
  for (const Finding& one : hints.findings) json["findings"].push_back({{"id", one.id}, {"observed", one.observed}});
  json["advice"] = Json::array();
  for (const Remedy& one : hints.advice) json["advice"].push_back({{"text", one.text}, {"commands", one.commands}});
  json["log"] = outcome.log.empty() ? Json(nullptr) : Json(outcome.log);
  redact_texts(json, redaction);
  constexpr int indent = 2;
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sage
