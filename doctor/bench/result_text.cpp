#include "doctor/bench/result_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "doctor/build/compile/units.hpp"
#include "doctor/checks/wording.hpp"
#include "doctor/report/wrap.hpp"

namespace sage {
namespace {

std::string padded(std::string text, std::size_t width) {
  const std::size_t taken = columns(text);
  return text + std::string(taken < width ? width - taken : 0, ' ');
}

std::string right(const std::string& text, std::size_t width) {
  const std::size_t taken = columns(text);
  return std::string(taken < width ? width - taken : 0, ' ') + text;
}

std::string number(const char* format, double value) {
  if (!std::isfinite(value)) return "?";
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// Three digits that mean something: "0.123", "12.3", "1234".
std::string milliseconds(double value) {
  return number(value < 10.0 ? "%.3f" : value < 100.0 ? "%.2f" : "%.1f", value);
}

std::string share(double value) {
  return std::isfinite(value) ? number("%.0f %%", value * 100.0) : "unknown";
}

std::string heading(const BenchRow& row) {
  const BenchShape& s = row.shape;
  return "head dim " + std::to_string(s.head_dim) + ", " + (s.causal ? "causal" : "dense") + ", " + row.type +
         ", batch " + std::to_string(s.batch) + ", " + counted(s.heads, "head");
}

bool same_block(const BenchRow& a, const BenchRow& b) {
  return a.shape.head_dim == b.shape.head_dim && a.shape.causal == b.shape.causal && a.type == b.type &&
         a.shape.batch == b.shape.batch && a.shape.heads == b.shape.heads;
}

std::string columns_head() {
  return right("tokens", 8) + "  " + padded("what", 16) + right("ms", 8) + "  " + padded("(min to max)", 18) +
         right("TFLOPS", 8) + right("of peak", 9) + right("rel. L1", 9) + "\n";
}

std::string measured_row(const BenchRow& row, std::size_t width) {
  std::string text = right(std::to_string(row.shape.tokens), 8) + "  ";
  const std::string what = printable(row.contender) + (row.part == BenchPart::kernel ? ", kernel" : "");
  if (!row.problem.empty())
    return text + what + "\n" + wrapped("no speed: " + printable(row.problem), "            ", "              ", width);
  const BenchSpread time = row.milliseconds.value_or(BenchSpread{});
  text += padded(what, 16) + right(milliseconds(time.median), 8);
  text += "  " + padded("(" + milliseconds(time.min) + " to " + milliseconds(time.max) + ")", 18);
  text += right(number("%.1f", row.tflops), 8) + right(share(row.peak_share), 9);
  if (row.accuracy) text += right(number("%.4f", row.accuracy->relative_l1), 9);
  return text + "\n";
}

/// Rows of a head dim, mask, type, batch and number of heads together, in the order in which the first of each came.
std::string measured_rows(const BenchResult& result, std::size_t width) {
  std::string text;
  std::vector<bool> done(result.rows.size(), false);
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    if (done[i]) continue;
    text += "\n" + printable(heading(result.rows[i])) + "\n" + columns_head();
    std::vector<const BenchRow*> block;
    for (std::size_t k = i; k < result.rows.size(); ++k) {
      if (done[k] || !same_block(result.rows[i], result.rows[k])) continue;
      done[k] = true;
      block.push_back(&result.rows[k]);
    }
    std::stable_sort(block.begin(), block.end(),
                     [](const BenchRow* a, const BenchRow* b) { return a->shape.tokens < b->shape.tokens; });
    for (const BenchRow* row : block) text += measured_row(*row, width);
  }
  return text;
}

std::string modelled_rows(const BenchResult& result) {
  const bool speeds = std::any_of(result.rows.begin(), result.rows.end(),
                                  [](const BenchRow& row) { return std::isfinite(row.tflops); });
  std::string text =
      std::string("\n  kernel                   modelled share of peak") + (speeds ? "   modelled TFLOPS" : "") + "\n";
  for (const BenchRow& row : result.rows) {
    text += "  " + padded(printable(short_unit_name(row.kernel)), 24) + right(share(row.peak_share), 23);
    text += (speeds ? right(number("%.1f", row.tflops), 18) : "") + "\n";
  }
  return text;
}

std::string device_line(const BenchResult& result) {
  const BenchDevice& device = result.device;
  std::string text = device.name.empty() ? device.target : device.name + " (" + device.target + ")";
  if (device.units > 0)
    text += ", " + std::to_string(device.units) +
            (device.target.starts_with("sm_") ? " multiprocessors" : " compute units");
  if (device.clock_mhz > 0) text += ", at most " + std::to_string(device.clock_mhz) + " MHz";
  return text;
}

std::string method_lines(const BenchResult& result, std::size_t width) {
  std::string text = std::string(bench_formula) + ". The median of ";
  std::uint32_t fewest = 0;
  std::uint32_t most = 0;
  for (const BenchRow& row : result.rows) {
    if (!row.milliseconds) continue;
    fewest = fewest == 0 ? row.milliseconds->runs : std::min(fewest, row.milliseconds->runs);
    most = std::max(most, row.milliseconds->runs);
  }
  text += fewest == most ? std::to_string(most) : std::to_string(fewest) + " to " + std::to_string(most);
  text += " runs by " + result.method.clock + " after " + std::to_string(result.method.warm_up) + " to warm up; ";
  constexpr std::uint64_t mib = 1 << 20;
  text += result.method.flushed_bytes > 0 ? "caches cold: " + std::to_string(result.method.flushed_bytes / mib) +
                                                " MiB were overwritten before each run."
                                          : "caches warm.";
  text += " \"kernel\" is the attention kernel alone, otherwise the whole call, quantisation included.";
  return wrapped(printable(text), "", "", width);
}

std::string tuning_text(const BenchTuning& tuning, std::size_t width) {
  std::string text = "\n" + counted(tuning.trials.size(), "trial");
  text += tuning.compiler.empty() ? "; no compiler here could make the alternatives\n"
                                  : "; alternatives by " + printable(tuning.compiler) + "\n";
  std::vector<std::string> classes;
  for (const TuneTrial& one : tuning.trials) {
    if (std::find(classes.begin(), classes.end(), one.shape_class) == classes.end()) classes.push_back(one.shape_class);
  }
  for (const std::string& name : classes) {
    text += "\n" + printable(name) + "\n";
    const auto choice = std::find_if(tuning.choices.begin(), tuning.choices.end(),
                                     [&](const TuneChoice& c) { return c.shape_class == name; });
    for (const TuneTrial& one : tuning.trials) {
      if (one.shape_class != name) continue;
      const std::string kernel = "  " + printable(short_unit_name(one.kernel));
      if (!one.problem.empty()) {
        text += kernel + "\n" + wrapped(printable(one.problem), "      ", "      ", width);
        continue;
      }
      const BenchSpread time = one.milliseconds.value_or(BenchSpread{});
      const bool chosen = choice != tuning.choices.end() && choice->kernel == one.kernel;
      const std::string between = "(" + milliseconds(time.min) + " to " + milliseconds(time.max) + ")";
      text += padded(kernel, 30) + right(milliseconds(time.median), 9) + " ms  ";
      text += chosen ? padded(between, 20) + "  chosen, +" + number("%.0f %%", choice->gain * 100.0) : between;
      text += "\n";
    }
  }
  return text;
}

}  // namespace

std::string bench_text(const BenchResult& result, std::size_t width) {
  std::string text = wrapped(printable(device_line(result)), "", "  ", width);
  if (result.origin == BenchOrigin::modelled) {
    text += wrapped(model_warning, "", "", width) + modelled_rows(result);
  } else if (!result.rows.empty()) {
    text += method_lines(result, width) + measured_rows(result, width);
  }
  if (result.tuning) text += tuning_text(*result.tuning, width);
  if (!result.notes.empty()) text += "\n";
  for (const std::string& note : result.notes) {
    if (note != model_warning) text += wrapped("note: " + printable(note), "", "  ", width);
  }
  if (result.origin == BenchOrigin::modelled) text += wrapped("Modelled, not measured.", "", "", width);
  return text;
}

}  // namespace sage
