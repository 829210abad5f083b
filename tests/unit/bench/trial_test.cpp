#include "doctor/bench/trial.hpp"

#include <doctest/doctest.h>

using namespace sage;

TEST_CASE("bench: what a process says is read as it was meant") {
  BenchRun run;
  run.state = BenchState::ran;
  run.device.target = "gfx1201";
  run.fp8 = true;
  run.tuning = "2 choices of tuning.txt";
  BenchTrial trial;
  trial.what = "1x1x64x64 dense f16";
  trial.call_ms = {1.0, 2.0};
  run.trials = {trial};
  const BenchRun read = bench_run_from_text(bench_run_text(run));
  CHECK(read.state == BenchState::ran);
  CHECK(read.fp8);
  CHECK(read.tuning == run.tuning);
  REQUIRE(read.trials.size() == 1);
  CHECK(read.trials[0].call_ms == trial.call_ms);
  CHECK(!read.trials[0].accuracy.passed);
}

TEST_CASE("bench: any other answer is a failure with its reason") {
  const std::string good = bench_run_text(BenchRun{});
  for (const std::string& text : {std::string(), std::string("nonsense"), std::string("[1]"), std::string("{}"), good.substr(0, good.size() / 2),
                                  std::string("{\"state\":\"happy\"}"), std::string("{\"state\":\"ran\",\"trials\":7}")}) {
    CAPTURE(text);
    const BenchRun run = bench_run_from_text(text);
    CHECK(run.state == BenchState::failed);
    CHECK(run.reason == "the process of the benchmark gave a garbled answer");
  }
}

TEST_CASE("bench: 'internal' is for the program itself") {
  CHECK(!run_bench_child({"smoke-gpu"}));
  CHECK(run_bench_child({"bench-gpu"}) == 2);
  CHECK(run_bench_child({"bench-gpu", "--library", "x", "--kernels", "x", "--runtime", "x", "--runs", "1", "--parts", "all", "--output", "x",
                         "--case", "bad"}) == 2);
}
