#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/enum_names.hpp"
#include "probes/base/result.hpp"

// What a benchmark found: measured by this program, measured by `python -m sage_doctor_attention.bench`, or modelled.
// One form for all (docs/bench-schema.json), so that one table and one plot serve them.

namespace sage {

inline constexpr std::uint32_t bench_schema_version = 2;
inline constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

enum class BenchOrigin { measured, modelled };

template <>
inline constexpr auto enum_names<BenchOrigin> = std::to_array<EnumName<BenchOrigin>>({
    {BenchOrigin::measured, "measured"},
    {BenchOrigin::modelled, "modelled"},
});

/// What was timed: the attention kernel alone on what a prologue has made before, everything of a call but that
/// kernel, or all that a caller waits for.
enum class BenchPart { kernel, prologue, call };

template <>
inline constexpr auto enum_names<BenchPart> = std::to_array<EnumName<BenchPart>>({
    {BenchPart::kernel, "kernel"},
    {BenchPart::prologue, "prologue"},
    {BenchPart::call, "call"},
});

/// Shapes beside the plain one for which a kernel does about the same work: is it as fast there?
enum class BenchForm {
  plain,
  gqa,     ///< a quarter as many heads of K and V
  tail,    ///< lengths that end in the middle of every tile
  cross,   ///< half as many queries, twice as many keys
  varlen,  ///< sequences of several lengths, packed
};

template <>
inline constexpr auto enum_names<BenchForm> = std::to_array<EnumName<BenchForm>>({
    {BenchForm::plain, "plain"},
    {BenchForm::gqa, "gqa"},
    {BenchForm::tail, "tail"},
    {BenchForm::cross, "cross"},
    {BenchForm::varlen, "varlen"},
});

struct BenchDevice {
  std::string name;                  ///< "AMD Radeon RX 9070 XT"; empty: the driver has none
  std::string target;                ///< "gfx1201", "sm_90"
  std::string runtime;               ///< driver library
  std::uint32_t driver_version = 0;  ///< as the driver numbers itself; 0: not known
  std::uint32_t units = 0;           ///< compute units or multiprocessors; 0: not known
  std::uint32_t clock_mhz = 0;       ///< the highest; 0: not known
  double copy_gbps = not_known;      ///< GB/s that a large copy on the GPU reads and writes, together

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("name", &BenchDevice::name);
    visit("target", &BenchDevice::target);
    visit("runtime", &BenchDevice::runtime);
    visit("driver_version", &BenchDevice::driver_version);
    visit("units", &BenchDevice::units);
    visit("clock_mhz", &BenchDevice::clock_mhz);
    visit("copy_gbps", &BenchDevice::copy_gbps);
  }
};

struct BenchMethod {
  std::string clock;  ///< "driver events"
  std::uint32_t warm_up = 0;
  std::uint64_t flushed_bytes = 0;  ///< overwritten before each run; 0: caches stayed warm
  std::uint64_t copied_bytes = 0;   ///< by the copy that copy_gbps is of; 0: none was timed

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("clock", &BenchMethod::clock);
    visit("warm_up", &BenchMethod::warm_up);
    visit("flushed_bytes", &BenchMethod::flushed_bytes);
    visit("copied_bytes", &BenchMethod::copied_bytes);
  }
};

struct BenchSpread {
  double min = not_known;
  double median = not_known;
  double max = not_known;
  std::uint32_t runs = 0;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("min", &BenchSpread::min);
    visit("median", &BenchSpread::median);
    visit("max", &BenchSpread::max);
    visit("runs", &BenchSpread::runs);
  }
};

/// Against attention in double precision (Python: float32), on rows of several heads.
struct BenchAccuracy {
  double relative_l1 = not_known;
  double rmse = not_known;
  double worst_row = not_known;
  double allowed_l1 = not_known;
  double allowed_worst_row = not_known;
  std::uint32_t rows = 0;
  bool passed = false;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("relative_l1", &BenchAccuracy::relative_l1);
    visit("rmse", &BenchAccuracy::rmse);
    visit("worst_row", &BenchAccuracy::worst_row);
    visit("allowed_l1", &BenchAccuracy::allowed_l1);
    visit("allowed_worst_row", &BenchAccuracy::allowed_worst_row);
    visit("rows", &BenchAccuracy::rows);
    visit("passed", &BenchAccuracy::passed);
  }
};

struct BenchShape {
  std::uint32_t batch = 1;
  std::uint32_t heads = 1;
  std::uint32_t kv_heads = 1;
  std::uint32_t tokens = 1;  ///< queries
  std::uint32_t kv_tokens = 1;
  std::uint32_t head_dim = 64;
  bool causal = false;                 ///< aligned at the top left
  std::vector<std::uint32_t> lengths;  ///< of packed sequences, batch x tokens together; empty: they are not packed

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("batch", &BenchShape::batch);
    visit("heads", &BenchShape::heads);
    visit("kv_heads", &BenchShape::kv_heads);
    visit("tokens", &BenchShape::tokens);
    visit("kv_tokens", &BenchShape::kv_tokens);
    visit("head_dim", &BenchShape::head_dim);
    visit("causal", &BenchShape::causal);
    visit("lengths", &BenchShape::lengths);
  }
  friend bool operator==(const BenchShape&, const BenchShape&) = default;
};

/// As many heads and tokens of K and V as of Q.
[[nodiscard]] inline BenchShape plain_shape(std::uint32_t batch, std::uint32_t heads, std::uint32_t tokens,
                                            std::uint32_t head_dim, bool causal) {
  return {batch, heads, heads, tokens, tokens, head_dim, causal, {}};
}

struct BenchRow {
  std::string contender;  ///< "sage f16", "sdpa flash"
  BenchPart part = BenchPart::call;
  BenchForm form = BenchForm::plain;
  BenchShape shape;
  std::string type = "f16";  ///< of q, k, v and the output
  std::string kernel;        ///< that ran; empty: not known
  std::optional<BenchSpread> milliseconds;
  double tflops = not_known;      ///< of a prologue there is none
  double peak_share = not_known;  ///< 0 to 1
  double of_plain = not_known;    ///< tflops as a share of the plain shape's, of other forms
  std::uint64_t bytes = 0;        ///< that a prologue reads and writes; 0: not known, or no prologue
  double copy_ratio = not_known;  ///< a prologue's time over that of a copy of as many bytes
  std::optional<BenchAccuracy> accuracy;
  std::string problem;  ///< why there is no speed; empty: there is one

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("contender", &BenchRow::contender);
    visit("part", &BenchRow::part);
    visit("form", &BenchRow::form);
    visit("shape", &BenchRow::shape);
    visit("type", &BenchRow::type);
    visit("kernel", &BenchRow::kernel);
    visit("milliseconds", &BenchRow::milliseconds);
    visit("tflops", &BenchRow::tflops);
    visit("peak_share", &BenchRow::peak_share);
    visit("of_plain", &BenchRow::of_plain);
    visit("bytes", &BenchRow::bytes);
    visit("copy_ratio", &BenchRow::copy_ratio);
    visit("accuracy", &BenchRow::accuracy);
    visit("problem", &BenchRow::problem);
  }
};

/// One kernel on the shape that stands for a class.
struct TuneTrial {
  std::string shape_class;  ///< "d64 F16 LONG dense"
  std::string kernel;
  std::optional<BenchSpread> milliseconds;  ///< of the kernel alone
  std::optional<BenchAccuracy> accuracy;
  std::string problem;  ///< why it is no candidate; empty: it is one

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("shape_class", &TuneTrial::shape_class);
    visit("kernel", &TuneTrial::kernel);
    visit("milliseconds", &TuneTrial::milliseconds);
    visit("accuracy", &TuneTrial::accuracy);
    visit("problem", &TuneTrial::problem);
  }
};

struct TuneChoice {
  std::string shape_class;
  std::string kernel;
  std::string usual;  ///< the kernel that serves the class without a choice
  double gain = 0;    ///< usual time / chosen time - 1

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("shape_class", &TuneChoice::shape_class);
    visit("kernel", &TuneChoice::kernel);
    visit("usual", &TuneChoice::usual);
    visit("gain", &TuneChoice::gain);
  }
};

struct BenchTuning {
  std::string source_sha256;
  std::string compiler;            ///< that made the alternatives; empty: none could
  std::uint32_t alternatives = 0;  ///< kernels beside the installed ones that there are for this GPU and these shapes
  std::vector<TuneTrial> trials;
  std::vector<TuneChoice> choices;  ///< classes that another kernel than the usual one serves best
  bool stored = false;              ///< with the installation

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("source_sha256", &BenchTuning::source_sha256);
    visit("compiler", &BenchTuning::compiler);
    visit("alternatives", &BenchTuning::alternatives);
    visit("trials", &BenchTuning::trials);
    visit("choices", &BenchTuning::choices);
    visit("stored", &BenchTuning::stored);
  }
};

struct BenchResult {
  std::uint32_t schema_version = bench_schema_version;
  std::string tool;  ///< "sage-doctor 0.1.0"
  std::string time;  ///< UTC, "2026-12-01T03:00:00Z"
  BenchOrigin origin = BenchOrigin::measured;
  BenchDevice device;
  BenchMethod method;
  std::vector<BenchRow> rows;
  std::optional<BenchTuning> tuning;
  std::vector<std::string> notes;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("schema_version", &BenchResult::schema_version);
    visit("tool", &BenchResult::tool);
    visit("time", &BenchResult::time);
    visit("origin", &BenchResult::origin);
    visit("device", &BenchResult::device);
    visit("method", &BenchResult::method);
    visit("rows", &BenchResult::rows);
    visit("tuning", &BenchResult::tuning);
    visit("notes", &BenchResult::notes);
  }

  /// Some row has no speed because its numbers are wrong, or because it did not run.
  [[nodiscard]] bool has_problems() const;
};

/// The formula behind every speed.
inline constexpr std::string_view bench_formula = "TFLOPS = 4 B H N^2 D / time, half of it for causal";

/// Printed wherever something modelled is.
inline constexpr std::string_view model_warning =
    "A MODEL, NOT A MEASUREMENT: issue slots of compiled kernels times the published cycles of their matrix "
    "instructions. "
    "Nothing was timed.";

}  // namespace sage
