#include "doctor/bench/measure.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "doctor/bench/model_rows.hpp"
#include "doctor/bench/tune.hpp"
#include "kernels/model/figures.hpp"
#include "kernels/model/peak.hpp"

using namespace sage;

namespace {

BenchTrial good_trial() {
  BenchTrial trial;
  trial.kernel = "sage_attention_d128_F16_LONG";
  trial.call_ms = {12.0, 11.0, 13.0};
  trial.kernel_ms = {10.0, 10.5, 9.5};
  trial.prologue_ms = {0.5, 0.4, 0.6};
  trial.prologue_bytes = 1'000'000'000;
  trial.accuracy = {0.0104, 4e-4, 0.02, 0.012, 0.05, 72, true};
  return trial;
}

const BenchCase large{plain_shape(4, 32, 8192, 128, false), device::PvType::f16, BenchForm::plain, 8192};

TuneTrial timed(const std::string& shape_class, const std::string& kernel, double milliseconds) {
  TuneTrial trial;
  trial.shape_class = shape_class;
  trial.kernel = kernel;
  trial.milliseconds = BenchSpread{milliseconds, milliseconds, milliseconds, 1};
  return trial;
}

}  // namespace

TEST_CASE("bench: shapes are those that were asked for, fp8 only where there is some") {
  CHECK(bench_cases({}, true).size() == 40);
  CHECK(bench_cases({}, false).size() == 20);
  BenchWish wish;
  wish.tokens = {777};
  wish.head_dims = {96};
  wish.masks = {"causal"};
  wish.pv = {"f16"};
  const auto cases = bench_cases(wish, true);
  REQUIRE(cases.size() == 1);
  CHECK(case_text(cases[0]) == "4x32x777x96 causal f16");
}

TEST_CASE("bench: other shapes of the same work stand beside the plain one") {
  BenchWish wish;
  wish.tokens = {1024};
  wish.head_dims = {64};
  wish.pv = {"f16"};
  wish.shapes = {"plain", "gqa", "tail", "cross"};
  const auto cases = bench_cases(wish, true);
  std::vector<std::string> texts;
  for (const BenchCase& one : cases) {
    texts.push_back(case_text(one));
    CHECK(cases[one.shape.causal ? 5 : 0].is_plain_of(one));
    CHECK(!cases[one.shape.causal ? 0 : 5].is_plain_of(one));
  }
  // Causal attention of half as many queries sees other keys: there is no cross of it.
  CHECK(texts == std::vector<std::string>{"4x32x1024x64 dense f16", "4x32/8x1024x64 dense f16", "4x32x1023x64 dense f16",
                                          "4x32x931x64 dense f16", "4x32x512:2048x64 dense f16", "4x32x1024x64 causal f16",
                                          "4x32/8x1024x64 causal f16", "4x32x1023x64 causal f16", "4x32x931x64 causal f16"});
  wish.tokens = {1};
  wish.heads = 6;
  CHECK(bench_cases(wish, true).size() == 2);
}

TEST_CASE("bench: a problem has all of its shape") {
  const device::Problem problem = problem_of(case_from_text("4x32/8x512:2048x64 causal fp8").value());
  CHECK(problem.q_heads == 32);
  CHECK(problem.kv_heads == 8);
  CHECK(problem.q_len == 512);
  CHECK(problem.kv_len == 2048);
  CHECK(problem.mask == SAGE_MASK_CAUSAL_TOP_LEFT);
}

TEST_CASE("bench: a case is told in words that only mean it") {
  BenchWish wish;
  wish.shapes = {"plain", "gqa", "tail", "cross"};
  for (const BenchCase& one : bench_cases(wish, true)) {
    const Result<BenchCase> read = case_from_text(case_text(one));
    REQUIRE(read.ok());
    CHECK(read->shape == one.shape);
    CHECK(read->pv == one.pv);
  }
  for (const char* text : {"", "4x32x8192x128", "4x32x8192 dense f16", "4x32x8192x128 dense", "0x32x8192x128 dense f16",
                           "4x32x8192x128 dense f32", "4x32x8192x512 dense f16", "4x32x99999999x64 dense f16", "-4x32x8192x128 dense f16",
                           "4x32/5x8192x128 dense f16", "4x32/0x8192x128 dense f16", "4/4x32x8192x128 dense f16", "4x32x8192:x128 dense f16",
                           "4x32x8192:1:1x128 dense f16",
                           "4x32x8192x128 dense f16 more"}) {
    CAPTURE(text);
    CHECK(!case_from_text(text).ok());
  }
}

TEST_CASE("bench: a trial gives rows for the kernel, the prologue and the call") {
  BenchDevice device;
  device.target = "gfx1201";
  device.units = 64;
  device.clock_mhz = 2970;
  const auto rows = rows_of(good_trial(), large, device);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].part == BenchPart::kernel);
  CHECK(rows[0].milliseconds->median == 10.0);
  CHECK(rows[1].part == BenchPart::prologue);
  CHECK(rows[1].milliseconds->median == 0.5);
  CHECK(rows[1].bytes == 1'000'000'000);
  CHECK(std::isnan(rows[1].tflops));
  CHECK(std::isnan(rows[1].copy_ratio));
  CHECK(rows[2].milliseconds->median == 12.0);
  CHECK(rows[0].tflops == doctest::Approx(439.8).epsilon(0.001));
  // 2 / (1/389 + 1/195) TFLOPS is the peak of int8 and f16 together.
  CHECK(rows[0].peak_share == doctest::Approx(439.8 / 259.5).epsilon(0.01));
  device.copy_gbps = 2500.0;  // 0.4 ms for the bytes
  CHECK(rows_of(good_trial(), large, device)[1].copy_ratio == doctest::Approx(1.25));
  device.units = 0;
  CHECK(std::isnan(rows_of(good_trial(), large, device)[0].peak_share));
}

TEST_CASE("bench: a speed of wrong numbers is refused") {
  BenchTrial trial = good_trial();
  trial.accuracy.relative_l1 = 0.3;
  trial.accuracy.passed = false;
  for (const BenchRow& row : rows_of(trial, large, {})) {
    CHECK(std::isnan(row.tflops));
    CHECK(!row.milliseconds);
    CHECK(row.problem == "wrong numbers: relative L1 0.3 (allowed 0.012), worst row 0.02 (allowed 0.05)");
  }
}

TEST_CASE("bench: what did not run has its reason, and no figure") {
  BenchTrial trial;
  trial.problem = "allocating failed with 2";
  for (const BenchRow& row : rows_of(trial, large, {})) {
    CHECK(row.problem == trial.problem);
    CHECK(!row.accuracy);
    CHECK(std::isnan(row.tflops));
  }
  trial = good_trial();
  trial.kernel_ms.clear();
  trial.prologue_ms.clear();
  trial.note = "kernel and prologue could not be timed alone: x";
  const auto rows = rows_of(trial, large, {});
  CHECK(rows[0].problem == trial.note);
  CHECK(rows[1].problem == trial.note);
  CHECK(rows[2].problem == "");
}

TEST_CASE("bench: peaks are those of the makers") {
  using device::PvType;
  const auto peak = [](const char* target, PvType pv, double units, double mhz) {
    return model::attention_peak(target, pv, units, mhz).value_or(NAN);
  };
  CHECK(peak("gfx1100", PvType::f16, 96, 2500) == doctest::Approx(122.9).epsilon(0.001));
  CHECK(peak("gfx942", PvType::fp8, 304, 2100) == doctest::Approx(2614.9).epsilon(0.001));
  CHECK(std::isnan(peak("gfx1100", PvType::fp8, 96, 2500)));
  CHECK(std::isnan(peak("gfx906", PvType::f16, 60, 1800)));
  CHECK(std::isnan(peak("gfx1100", PvType::f16, 0, 2500)));
}

TEST_CASE("bench: every tile of AMD's has figures for the model") {
  for (const char* target : {"gfx1201", "gfx1100", "gfx90a", "gfx942", "gfx1151"}) {
    const Result<BenchResult> result = model_result(target, Facts{});
    REQUIRE(result.ok());
    CHECK(result->origin == BenchOrigin::modelled);
    CHECK(result->notes.front() == model_warning);
    CHECK(!result->rows.empty());
    for (const BenchRow& row : result->rows) {
      CHECK(row.peak_share > 0.3);
      CHECK(row.peak_share <= 1.0);
      CHECK(std::isnan(row.tflops));
      CHECK(!row.milliseconds);
    }
  }
  CHECK(!model_result("sm_90", Facts{}).ok());
  CHECK(!model_result("gfx906", Facts{}).ok());
}

TEST_CASE("tune: the fastest right kernel wins when it is faster by 2 %") {
  const auto usual = [](const std::string& name) { return name == "a" ? "usual-a" : "usual-b"; };
  const std::vector<TuneTrial> trials = {timed("a", "usual-a", 10.0), timed("a", "other", 9.0), timed("a", "slow", 20.0),
                                         timed("b", "usual-b", 10.0), timed("b", "other", 9.9)};
  const auto choices = choose(trials, usual);
  REQUIRE(choices.size() == 1);
  CHECK(choices[0].shape_class == "a");
  CHECK(choices[0].kernel == "other");
  CHECK(choices[0].usual == "usual-a");
  CHECK(choices[0].gain == doctest::Approx(10.0 / 9.0 - 1.0));
}

TEST_CASE("tune: wrong numbers never win, and one without times neither") {
  const auto usual = [](const std::string&) { return "usual"; };
  TuneTrial wrong = timed("a", "wrong", 1.0);
  wrong.problem = "wrong numbers";
  wrong.milliseconds.reset();
  CHECK(choose({timed("a", "usual", 10.0), wrong}, usual).empty());
  TuneTrial zero = timed("a", "zero", 0.0);
  CHECK(choose({timed("a", "usual", 10.0), zero}, usual).empty());
  TuneTrial broken = timed("a", "usual", 10.0);
  broken.problem = "wrong numbers";
  const auto choices = choose({broken, timed("a", "right", 12.0)}, usual);
  REQUIRE(choices.size() == 1);
  CHECK(choices[0].kernel == "right");
}

TEST_CASE("tune: an installation without its tuning is as a build makes it") {
  Manifest manifest;
  manifest.targets.resize(1);
  for (const char* name : {"sage_prologue", "sage_attention_d64_F16_LONG", "sage_attention_d64_F16_B256K64Q32"}) {
    manifest.targets[0].kernels.emplace_back();
    manifest.targets[0].kernels.back().name = name;
  }
  manifest.other_files = {{"kernels/tuning.txt", ""}, {"src/sage_kernels.hip", ""}};
  manifest.accuracy.resize(2);
  manifest.accuracy[0].kernel = "sage_attention_d64_F16_B256K64Q32";
  manifest.accuracy[1].kernel = "sage_attention_d64_F16_LONG";
  const Manifest plain = untuned(manifest);
  CHECK(plain.targets[0].kernels.size() == 2);
  REQUIRE(plain.other_files.size() == 1);
  CHECK(plain.other_files[0].file == "src/sage_kernels.hip");
  REQUIRE(plain.accuracy.size() == 1);
  CHECK(plain.accuracy[0].kernel == "sage_attention_d64_F16_LONG");
}

TEST_CASE("tune: every class is tried, or those that were asked for") {
  for (const device::Family family : {device::Family::gfx12, device::Family::sm90}) {
    const auto all = tune_cases({}, family);
    CHECK(all.size() == device::shape_class_count);
    for (const TuneCase& one : all) {
      CHECK(device::tile_length(one.what.shape.tokens, family, one.shape_class.dp) == one.shape_class.length);
      CHECK(one.what.shape.causal == one.shape_class.causal);
      CHECK(device::padded_head_dim(static_cast<int>(one.what.shape.head_dim)) == one.shape_class.dp);
    }
  }
  BenchWish wish;
  wish.tokens = {512, 8192};
  wish.head_dims = {72};
  wish.masks = {"dense"};
  wish.pv = {"f16"};
  const auto some = tune_cases(wish, device::Family::gfx12);
  REQUIRE(some.size() == 2);
  CHECK(case_text(some[0].what) == "2x32x8192x72 dense f16");
  CHECK(case_text(some[1].what) == "4x32x512x72 dense f16");
  CHECK(some[0].shape_class.dp == 96);
  wish.tokens = {100};
  CHECK(tune_cases(wish, device::Family::gfx12).size() == 1);
}
