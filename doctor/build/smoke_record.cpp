#include "doctor/build/smoke_record.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace sage {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 3> state_names = {"ran", "no-gpu", "failed"};

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

double number_of(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

SmokeRun garbled() {
  SmokeRun run;
  run.reason = "the process of the smoke test gave a garbled answer";
  return run;
}

}  // namespace

std::string smoke_run_text(const SmokeRun& run) {
  Json records = Json::array();
  for (const SmokeRecord& one : run.records) {
    records.push_back({{"kernel", one.kernel},
                       {"problem", one.problem},
                       {"relative_l1", number(one.relative_l1)},
                       {"rmse", number(one.rmse)},
                       {"worst_row", number(one.worst_row)},
                       {"lse_error", number(one.lse_error)},
                       {"allowed_l1", number(one.allowed_l1)},
                       {"allowed_worst_row", number(one.allowed_worst_row)},
                       {"allowed_lse", number(one.allowed_lse)},
                       {"passed", one.passed},
                       {"complaint", one.complaint},
                       {"first_wrong", one.first_wrong}});
  }
  const Json json = {{"state", state_names[static_cast<std::size_t>(run.state)]},
                     {"where", run.where},
                     {"runtime", run.runtime},
                     {"reason", run.reason},
                     {"records", records}};
  return json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

SmokeRun smoke_run_from_text(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return garbled();
  try {
    SmokeRun run;
    const auto state = json.at("state").get<std::string>();
    std::size_t index = 0;
    while (index < state_names.size() && state != state_names[index]) ++index;
    if (index == state_names.size()) return garbled();
    run.state = static_cast<SmokeRun::State>(index);
    run.where = json.at("where").get<std::string>();
    run.runtime = json.at("runtime").get<std::string>();
    run.reason = json.at("reason").get<std::string>();
    for (const Json& one : json.at("records")) {
      SmokeRecord record;
      record.kernel = one.at("kernel").get<std::string>();
      record.problem = one.at("problem").get<std::string>();
      record.relative_l1 = number_of(one.at("relative_l1"));
      record.rmse = number_of(one.at("rmse"));
      record.worst_row = number_of(one.at("worst_row"));
      record.lse_error = number_of(one.at("lse_error"));
      record.allowed_l1 = number_of(one.at("allowed_l1"));
      record.allowed_worst_row = number_of(one.at("allowed_worst_row"));
      record.allowed_lse = number_of(one.at("allowed_lse"));
      record.passed = one.at("passed").get<bool>();
      record.complaint = one.at("complaint").get<std::string>();
      record.first_wrong = one.at("first_wrong").get<std::string>();
      run.records.push_back(std::move(record));
    }
    return run;
  } catch (const Json::exception&) {
    return garbled();
  }
}

}  // namespace sage
