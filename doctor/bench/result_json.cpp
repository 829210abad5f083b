#include "doctor/bench/result_json.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "doctor/messages/expression.hpp"
#include "doctor/report/redacted_json.hpp"
#include "probes/facts/json_walk.hpp"

namespace sage {
namespace {

using json_walk::Json;

constexpr std::size_t most_rows = 4096;
constexpr std::size_t most_lengths = 4096;
constexpr std::size_t longest_version = 40;
constexpr double most_tflops = 1e9;

bool is_spread(const BenchSpread& spread) {
  return spread.min > 0.0 && spread.min <= spread.median && spread.median <= spread.max && std::isfinite(spread.max);
}

/// As of a row: no speed stands beside wrong numbers, or beside a reason why there is none.
std::optional<Error> meaningless(const BenchTuning& tuning) {
  if (tuning.trials.size() > most_rows || tuning.choices.size() > most_rows)
    return Error{0, "tuning: more than " + std::to_string(most_rows) + " trials or choices"};
  for (std::size_t i = 0; i < tuning.trials.size(); ++i) {
    const TuneTrial& trial = tuning.trials[i];
    const std::string place = "tuning.trials[" + std::to_string(i) + "]: ";
    if (!trial.milliseconds) continue;
    if (!is_spread(*trial.milliseconds)) return Error{0, place + "milliseconds are no times in order"};
    if (trial.accuracy && !trial.accuracy->passed) return Error{0, place + "a speed of wrong numbers"};
    if (!trial.problem.empty()) return Error{0, place + "a speed, and a reason why there is none"};
  }
  return std::nullopt;
}

/// What the types allow and the meaning does not.
std::optional<Error> meaningless(const BenchResult& result) {
  if (result.rows.size() > most_rows) return Error{0, "rows: more than " + std::to_string(most_rows)};
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const BenchRow& row = result.rows[i];
    const std::string place = "rows[" + std::to_string(i) + "]: ";
    const BenchShape& shape = row.shape;
    if (row.contender.empty()) return Error{0, place + "contender is missing or empty"};
    if (shape.batch == 0 || shape.heads == 0 || shape.tokens == 0 || shape.head_dim == 0 || shape.kv_heads == 0 ||
        shape.kv_tokens == 0) {
      return Error{0, place + "the shape has nothing in it"};
    }
    if (shape.lengths.size() > most_lengths)
      return Error{0, place + "more than " + std::to_string(most_lengths) + " lengths"};
    const std::uint64_t packed = std::accumulate(shape.lengths.begin(), shape.lengths.end(), std::uint64_t{0});
    if (packed != 0 && packed != std::uint64_t{shape.batch} * shape.tokens)
      return Error{0, place + "the lengths are not batch x tokens together"};
    const bool has_speed = std::isfinite(row.tflops) || row.milliseconds;
    if (has_speed && row.accuracy && !row.accuracy->passed) return Error{0, place + "a speed of wrong numbers"};
    if (has_speed && !row.problem.empty()) return Error{0, place + "a speed, and a reason why there is none"};
    if (std::isfinite(row.tflops) && (row.tflops < 0.0 || row.tflops > most_tflops))
      return Error{0, place + "tflops is no speed"};
    if (row.milliseconds && !is_spread(*row.milliseconds))
      return Error{0, place + "milliseconds are no times in order"};
  }
  return result.tuning ? meaningless(*result.tuning) : std::nullopt;
}

}  // namespace

bool BenchResult::has_problems() const {
  return std::any_of(rows.begin(), rows.end(), [](const BenchRow& row) { return !row.problem.empty(); });
}

std::string bench_json(const BenchResult& result, Redaction redaction) {
  Json json = json_walk::to_json_value(result);
  redact_texts(json, redaction);
  constexpr int indent = 2;
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<BenchResult> bench_from_text(std::string_view text) {
  if (text.size() > most_bench_bytes)
    return Error{0, "it is longer than " + std::to_string(most_bench_bytes) + " bytes"};
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Error{0, "it is no JSON"};
  if (!json.is_object() || !json.contains("schema_version"))
    return Error{0, "it is no result of a benchmark: schema_version is missing"};
  if (json["schema_version"] != bench_schema_version) {
    return Error{0, "schema_version: this program reads " + std::to_string(bench_schema_version) + ", not " +
                        shortened(json["schema_version"].dump(), longest_version)};
  }
  BenchResult result;
  if (auto problem = json_walk::read_value(json, "", result)) return *problem;
  if (auto problem = meaningless(result)) return *problem;
  return result;
}

}  // namespace sage
