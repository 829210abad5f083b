#include "doctor/bench/measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "doctor/bench/statistics.hpp"
#include "kernels/model/peak.hpp"

namespace sage {
namespace {

void add_once(std::vector<std::string>& notes, const std::string& note) {
  if (!note.empty() && std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

}  // namespace

std::string processor_of(const std::string& target) {
  return target.substr(0, target.find(':'));
}

void add_facts_of_gpu(const Facts& facts, BenchDevice& device) {
  if (device.target.starts_with("sm_")) return;
  for (const Gpu& gpu : facts.gpus.amd.value_or({})) {
    if (!gpu.target.is(processor_of(device.target))) continue;
    device.units = gpu.compute_units.value_or(0);
    device.clock_mhz = gpu.max_clock_mhz.value_or(0);
    if (device.name.empty()) device.name = gpu.name.value_or("");
    return;
  }
}

double peak_share(const BenchDevice& device, device::PvType pv, double tflops) {
  const auto peak = model::attention_peak(processor_of(device.target), pv, device.units, device.clock_mhz);
  return peak ? tflops / *peak : not_known;
}

double copy_ratio(const BenchDevice& device, std::uint64_t bytes, double milliseconds) {
  if (bytes == 0 || !(device.copy_gbps > 0.0)) return not_known;
  return milliseconds * 1e6 * device.copy_gbps / static_cast<double>(bytes);
}

std::string wrong_numbers(const BenchAccuracy& accuracy) {
  char text[160];
  std::snprintf(text, sizeof text, "wrong numbers: relative L1 %.4g (allowed %.4g), worst row %.4g (allowed %.4g)",
                accuracy.relative_l1, accuracy.allowed_l1, accuracy.worst_row, accuracy.allowed_worst_row);
  return text;
}

std::vector<BenchRow> rows_of(const BenchTrial& trial, const BenchCase& what, const BenchDevice& device) {
  std::vector<BenchRow> rows;
  const auto add = [&](BenchPart part, const std::vector<double>& times, const std::string& missing) {
    BenchRow row;
    row.contender = contender_of(what.pv);
    row.part = part;
    row.form = what.form;
    row.shape = what.shape;
    row.kernel = trial.kernel;
    row.problem = trial.problem;
    if (row.problem.empty()) {
      row.accuracy = trial.accuracy;
      if (!trial.accuracy.passed)
        row.problem = wrong_numbers(trial.accuracy);
      else if (times.empty())
        row.problem = missing.empty() ? "it was not timed" : missing;
    }
    if (part == BenchPart::prologue) row.bytes = trial.prologue_bytes;
    if (row.problem.empty()) {
      row.milliseconds = spread_of(times);
      if (part == BenchPart::prologue) {
        row.copy_ratio = copy_ratio(device, row.bytes, row.milliseconds->median);
      } else {
        row.tflops = tflops_of(row.shape, row.milliseconds->median);
        row.peak_share = peak_share(device, what.pv, row.tflops);
      }
    }
    rows.push_back(std::move(row));
  };
  add(BenchPart::kernel, trial.kernel_ms, trial.note);
  add(BenchPart::prologue, trial.prologue_ms, trial.note);
  add(BenchPart::call, trial.call_ms, "");
  return rows;
}

Result<BenchResult> measure(const BenchPlace& place, const BenchWish& wish, const Facts& facts,
                            const BenchProgress& progress) {
  BenchRequest request{place.library, place.kernels, "", {}, wish.runs, false};
  progress("looking for the GPU", 0, 0);
  const Result<BenchRun> opened = find_gpu(request, place.runtimes, place.work);
  if (!opened) return opened.error();
  BenchResult result;
  result.device = opened->device;
  add_facts_of_gpu(facts, result.device);
  result.method = {"driver events", 3, 0, opened->copied_bytes};
  if (!opened->tuning.empty()) result.notes.push_back(opened->tuning);
  if (!opened->no_copy.empty()) result.notes.push_back("the speed of a copy is unknown: " + opened->no_copy);

  const std::vector<BenchCase> cases = bench_cases(wish, opened->fp8);
  if (cases.empty())
    return Error{0, "of the shapes that were asked for, none can be made here: see sage-doctor bench --help"};
  std::vector<BenchRequest> requests;
  for (const BenchCase& one : cases) {
    requests.push_back(request);
    requests.back().cases = {one};
  }
  std::size_t done = 0;
  const auto tell = [&] { progress(done < cases.size() ? case_text(cases[done]) : "", done, cases.size()); };
  const auto ended = [&](std::size_t) {
    ++done;
    tell();
  };
  const BenchRuns all = run_bench(requests, place.work, ended, tell);
  if (all.interrupted_by != 0) result.notes.emplace_back(bench_interrupted);
  std::vector<std::size_t> case_of_row;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    BenchTrial trial;
    const BenchRun& run = all.runs[i];
    if (!run.trials.empty())
      trial = run.trials.front();
    else if (all.interrupted_by != 0)
      continue;
    else
      trial.problem = run.reason;
    result.method.flushed_bytes = std::max(result.method.flushed_bytes, trial.flushed_bytes);
    for (BenchRow& row : rows_of(trial, cases[i], result.device)) {
      result.rows.push_back(std::move(row));
      case_of_row.push_back(i);
    }
    add_once(result.notes, trial.note);
  }
  for (std::size_t r = 0; r < result.rows.size(); ++r) {
    BenchRow& row = result.rows[r];
    for (std::size_t p = 0; p < result.rows.size() && row.form != BenchForm::plain; ++p) {
      const bool same = cases[case_of_row[p]].is_plain_of(cases[case_of_row[r]]) && result.rows[p].part == row.part;
      if (same) row.of_plain = row.tflops / result.rows[p].tflops;
    }
  }
  if (std::isnan(peak_share(result.device, device::PvType::f16, 1.0))) {
    result.notes.push_back(
        "the share of the peak is unknown: units, clock or matrix rate of this GPU are in no table and in no fact");
  }
  return result;
}

}  // namespace sage
