#include "doctor/bench/result_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "doctor/bench/statistics.hpp"
#include "doctor/build/compile/units.hpp"
#include "doctor/checks/wording.hpp"
#include "doctor/report/wrap.hpp"

namespace sage {
namespace {

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

/// "64", "64.0", "6.40": three digits of a speed.
std::string speed(double value) {
  return number(value < 10.0 ? "%.2f" : value < 100.0 ? "%.1f" : "%.0f", value);
}

std::string form_words(const BenchRow& row) {
  switch (row.form) {
    case BenchForm::plain:
      return "";
    case BenchForm::gqa:
      return ", " + std::to_string(row.shape.kv_heads) + " of K and V";
    case BenchForm::tail:
      return ", odd lengths";
    case BenchForm::cross:
      return ", four times as many keys";
    case BenchForm::varlen:
      return ", " + counted(row.shape.lengths.size(), "packed sequence");
  }
  return "";
}

std::string heading(const BenchRow& row) {
  const BenchShape& s = row.shape;
  return "head dim " + std::to_string(s.head_dim) + ", " + (s.causal ? "causal" : "dense") + ", " + row.type +
         ", batch " + std::to_string(s.batch) + ", " + counted(s.heads, "head") + form_words(row);
}

bool same_block(const BenchRow& a, const BenchRow& b) {
  return a.shape.head_dim == b.shape.head_dim && a.shape.causal == b.shape.causal && a.type == b.type &&
         a.form == b.form && a.shape.batch == b.shape.batch && a.shape.heads == b.shape.heads &&
         a.shape.kv_heads == b.shape.kv_heads;
}

std::string tokens_of(const BenchRow& row) {
  const BenchShape& s = row.shape;
  return std::to_string(s.tokens) + (s.tokens == s.kv_tokens ? "" : ":" + std::to_string(s.kv_tokens));
}

/// Under the line that says of what.
std::string refusal(const std::string& problem, std::size_t width) {
  return wrapped("no speed: " + printable(problem), "            ", "              ", width);
}

/// Of calls only: a line each, with its times.
std::string calls(const std::vector<const BenchRow*>& rows, std::size_t width) {
  const bool plain = rows.front()->form == BenchForm::plain;
  std::string text = right_aligned("tokens", 8) + "  " + left_aligned("what", 16) + right_aligned("ms", 8) + "  " +
                     left_aligned("(min to max)", 18) + right_aligned("TFLOPS", 8) +
                     right_aligned(plain ? "of peak" : "of plain", 9) + right_aligned("rel. L1", 9) + "\n";
  for (const BenchRow* row : rows) {
    const std::string start = right_aligned(tokens_of(*row), 8) + "  ";
    if (!row->problem.empty()) {
      text += start + printable(row->contender) + "\n" + refusal(row->problem, width);
      continue;
    }
    const BenchSpread time = row->milliseconds.value_or(BenchSpread{});
    text += start + left_aligned(printable(row->contender), 16) + right_aligned(milliseconds(time.median), 8);
    text += "  " + left_aligned("(" + milliseconds(time.min) + " to " + milliseconds(time.max) + ")", 18);
    text += right_aligned(number("%.1f", row->tflops), 8) +
            right_aligned(share(plain ? row->peak_share : row->of_plain), 9);
    if (row->accuracy) text += right_aligned(number("%.4f", row->accuracy->relative_l1), 9);
    text += "\n";
  }
  return text;
}

/// What a measurement of this program has for one shape and type of P and V.
struct Parts {
  const BenchRow* kernel = nullptr;
  const BenchRow* prologue = nullptr;
  const BenchRow* call = nullptr;

  [[nodiscard]] const BenchRow& any() const {
    return *(kernel != nullptr ? kernel : prologue != nullptr ? prologue : call);
  }
};

/// Median, slowest to fastest run; blank where there is none.
std::string speeds(const BenchRow* row) {
  if (row == nullptr || !row->milliseconds) return std::string(17, ' ');
  const BenchSpread& time = *row->milliseconds;
  return right_aligned(speed(row->tflops), 7) +
         right_aligned(speed(tflops_of(row->shape, time.max)) + "-" + speed(tflops_of(row->shape, time.min)), 10);
}

std::string percent(const BenchRow* row, double BenchRow::*share_of) {
  return right_aligned(row == nullptr || !row->milliseconds ? "" : number("%.0f %%", row->*share_of * 100.0), 6);
}

std::vector<Parts> parts_of(const std::vector<const BenchRow*>& rows) {
  std::vector<Parts> all;
  for (const BenchRow* row : rows) {
    auto found = std::find_if(all.begin(), all.end(), [&](const Parts& one) {
      return one.any().contender == row->contender && one.any().shape == row->shape;
    });
    if (found == all.end()) found = all.insert(all.end(), Parts{});
    (row->part == BenchPart::kernel     ? found->kernel
     : row->part == BenchPart::prologue ? found->prologue
                                        : found->call) = row;
  }
  return all;
}

/// Of kernel, prologue and call: a line for the three. Other forms than the plain one have no prologue here: how fast
/// they are as a share of the plain one is what they are measured for.
std::string parts_table(const std::vector<const BenchRow*>& rows, std::size_t width) {
  const bool plain = rows.front()->form == BenchForm::plain;
  const std::size_t tokens = plain ? 7 : 11;
  std::string text = std::string(tokens + 12, ' ') + left_aligned("  kernel alone", 23) +
                     (plain ? left_aligned("  whole call", 17) + "    prologue" : "  whole call") + "\n";
  text += right_aligned("tokens", tokens) + "  " + left_aligned("what", 10) + right_aligned("TFLOPS", 7) +
          right_aligned("runs", 10) + right_aligned(plain ? "peak" : "plain", 6) + right_aligned("TFLOPS", 7) +
          right_aligned("runs", 10);
  text += (plain ? right_aligned("us", 6) + right_aligned("x copy", 7) : right_aligned("plain", 6)) +
          right_aligned("rel. L1", 8) + "\n";
  for (const Parts& one : parts_of(rows)) {
    const std::string start =
        right_aligned(tokens_of(one.any()), tokens) + "  " + left_aligned(printable(one.any().contender), 10);
    const bool some = one.call != nullptr && one.call->milliseconds;
    if (some) {
      text += start + speeds(one.kernel) + percent(one.kernel, plain ? &BenchRow::peak_share : &BenchRow::of_plain) +
              speeds(one.call);
      const BenchRow* const prologue = one.prologue != nullptr && one.prologue->milliseconds ? one.prologue : nullptr;
      if (plain)
        text += right_aligned(prologue == nullptr ? "" : number("%.0f", prologue->milliseconds->median * 1000.0), 6) +
                right_aligned(prologue == nullptr ? "" : number("%.2f", prologue->copy_ratio), 7);
      else
        text += percent(one.call, &BenchRow::of_plain);
      text += (one.call->accuracy ? right_aligned(number("%.4f", one.call->accuracy->relative_l1), 8) : "") + "\n";
    } else {
      text += start + "\n";
    }
    std::vector<std::string> told;
    for (const BenchRow* row : {one.kernel, one.prologue, one.call}) {
      if (row == nullptr || row->problem.empty() || std::find(told.begin(), told.end(), row->problem) != told.end())
        continue;
      told.push_back(row->problem);
      text += refusal(row->problem, width);
    }
  }
  return text;
}

/// Rows of a head dim, mask, type, form, batch and heads together, in the order in which the first of each came.
std::string measured_rows(const BenchResult& result, std::size_t width) {
  std::string text;
  std::vector<bool> done(result.rows.size(), false);
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    if (done[i]) continue;
    std::vector<const BenchRow*> block;
    for (std::size_t k = i; k < result.rows.size(); ++k) {
      if (done[k] || !same_block(result.rows[i], result.rows[k])) continue;
      done[k] = true;
      block.push_back(&result.rows[k]);
    }
    std::stable_sort(block.begin(), block.end(),
                     [](const BenchRow* a, const BenchRow* b) { return a->shape.tokens < b->shape.tokens; });
    const bool whole =
        std::all_of(block.begin(), block.end(), [](const BenchRow* row) { return row->part == BenchPart::call; });
    text +=
        "\n" + printable(heading(result.rows[i])) + "\n" + (whole ? calls(block, width) : parts_table(block, width));
  }
  return text;
}

std::string modelled_rows(const BenchResult& result) {
  const bool speeds = std::any_of(result.rows.begin(), result.rows.end(),
                                  [](const BenchRow& row) { return std::isfinite(row.tflops); });
  std::string text =
      std::string("\n  kernel                   modelled share of peak") + (speeds ? "   modelled TFLOPS" : "") + "\n";
  for (const BenchRow& row : result.rows) {
    text += "  " + left_aligned(printable(short_unit_name(row.kernel)), 24) + right_aligned(share(row.peak_share), 23);
    text += (speeds ? right_aligned(number("%.1f", row.tflops), 18) : "") + "\n";
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
  std::string lines = wrapped(printable(text), "", "", width);
  const auto has = [&](auto&& property) { return std::any_of(result.rows.begin(), result.rows.end(), property); };
  const auto word = [&](const char* name, const std::string& meaning) {
    lines += wrapped(printable(meaning), "  " + left_aligned(name, 14), std::string(16, ' '), width);
  };
  if (has([](const BenchRow& row) { return row.part == BenchPart::kernel; })) {
    word("kernel alone", "the attention kernel, where what the prologue makes is there already");
    word("runs", "speed of the slowest and of the fastest run");
    word("peak", "share of what the matrix units could do at their highest clock");
  }
  if (has([](const BenchRow& row) { return row.part == BenchPart::prologue; })) {
    std::string copy = "all of a call but that kernel; x copy: how many times as long as a copy of its bytes";
    if (result.device.copy_gbps > 0.0)
      copy += " at the " + number("%.0f", result.device.copy_gbps) + " GB/s measured here";
    word("prologue", copy);
  }
  if (has([](const BenchRow& row) { return row.form != BenchForm::plain; }))
    word("plain", "share of the speed on the plain shape");
  return lines;
}

std::string tuning_text(const BenchTuning& tuning, std::size_t width) {
  std::string what = counted(tuning.trials.size(), "trial");
  if (tuning.alternatives == 0)
    what += "; there are no other kernels for this GPU and these shapes than the installed ones";
  else
    what += tuning.compiler.empty() ? "; no compiler here could make the alternatives"
                                    : "; alternatives by " + printable(tuning.compiler);
  std::string text = "\n" + wrapped(what, "", "  ", width);
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
      text += left_aligned(kernel, 30) + right_aligned(milliseconds(time.median), 9) + " ms  ";
      text += chosen ? left_aligned(between, 20) + "  chosen, +" + number("%.0f %%", choice->gain * 100.0) : between;
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
