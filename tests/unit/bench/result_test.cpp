#include <doctest/doctest.h>

#include <cmath>
#include <sstream>

#include "doctor/bench/plot.hpp"
#include "doctor/bench/result_json.hpp"
#include "doctor/bench/result_text.hpp"
#include "probes/base/text.hpp"
#include "sample_result.hpp"

using namespace sage;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string reason_of(const std::string& text) {
  const Result<BenchResult> read = bench_from_text(text);
  return read ? "" : read.error().text;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("bench: what is written as JSON is read again") {
  BenchResult result = test::sample_result();
  result.rows.push_back(test::refused_row(4096));
  result.tuning = BenchTuning{std::string(64, 'a'), "/usr/bin/clang++-19", 2, {}, {{"d64 F16 LONG dense", "a", "b", 0.1}}, true};
  const std::string text = bench_json(result, Redaction());
  const Result<BenchResult> read = bench_from_text(text);
  REQUIRE_MESSAGE(read.ok(), reason_of(text));
  CHECK(bench_json(*read, Redaction()) == text);
  CHECK(read->rows.size() == result.rows.size());
  CHECK(read->rows[0].milliseconds->median == result.rows[0].milliseconds->median);
  CHECK(std::isnan(read->rows.back().tflops));
  CHECK(read->tuning->choices.front().gain == 0.1);
  CHECK(read->has_problems());
}

TEST_CASE("bench: what means nothing is refused with its place") {
  const std::string good = bench_json(test::sample_result(), Redaction());
  CHECK(reason_of(good) == "");
  CHECK(reason_of("") == "it is no JSON");
  CHECK(reason_of("[]") == "it is no result of a benchmark: schema_version is missing");
  CHECK(reason_of(replaced(good, "\"schema_version\": 2", "\"schema_version\": 1")) == "schema_version: this program reads 2, not 1");
  CHECK(reason_of(replaced(good, "\"tokens\": 1024", "\"tokens\": 0")) == "rows[0]: the shape has nothing in it");
  CHECK(reason_of(replaced(good, "\"kv_heads\": 32", "\"kv_heads\": 0")) == "rows[0]: the shape has nothing in it");
  CHECK(reason_of(replaced(good, "\"lengths\": []", "\"lengths\": [1000, 2000]")) ==
        "rows[0]: the lengths are not batch x tokens together");
  CHECK(reason_of(replaced(good, "\"lengths\": []", "\"lengths\": [1096, 2000, 1000]")) == "");
  CHECK(reason_of(replaced(good, "\"tokens\": 1024", "\"tokens\": \"many\"")) == "rows[0].shape.tokens: expected a whole number of at most 32 bits");
  CHECK(reason_of(replaced(good, "\"part\": \"kernel\"", "\"part\": \"half\"")).starts_with("rows[0].part: expected one of the names"));
  CHECK(reason_of(replaced(good, "\"passed\": true", "\"passed\": false")) == "rows[0]: a speed of wrong numbers");
  CHECK(reason_of(replaced(good, "\"problem\": \"\"", "\"problem\": \"x\"")) == "rows[0]: a speed, and a reason why there is none");
  CHECK(reason_of(std::string(most_bench_bytes + 1, ' ')).starts_with("it is longer than"));
}

TEST_CASE("bench: trials of a tuning are held to the same, and are not without number") {
  BenchResult result = test::sample_result();
  const BenchRow row = test::sample_row("sage f16", BenchPart::kernel, 1024, 1.0);
  result.tuning = BenchTuning{"", "", 0, {{"d64 F16 LONG dense", "a", row.milliseconds, row.accuracy, ""}}, {}, false};
  const auto reason = [&] { return reason_of(bench_json(result, Redaction())); };
  CHECK(reason() == "");
  result.tuning->trials[0].problem = "x";
  CHECK(reason() == "tuning.trials[0]: a speed, and a reason why there is none");
  result.tuning->trials[0].accuracy->passed = false;
  CHECK(reason() == "tuning.trials[0]: a speed of wrong numbers");
  result.tuning->trials[0].milliseconds->min = 2.0;
  CHECK(reason() == "tuning.trials[0]: milliseconds are no times in order");
  result.tuning->trials.assign(4097, {"d64 F16 LONG dense", "a", std::nullopt, std::nullopt, "x"});
  CHECK(reason() == "tuning: more than 4096 trials or choices");
}

TEST_CASE("bench: a reason is a line, whatever a file has for its version") {
  const std::string version(100'000, 'v');
  CHECK(reason_of("{\"schema_version\": \"" + version + "\"}").size() < 120);
}

TEST_CASE("bench: the table fits the terminal and has a speed only beside right numbers") {
  BenchResult result = test::sample_result();
  result.rows.push_back(test::refused_row(4096));
  const std::string text = bench_text(result, 80);
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) CHECK_MESSAGE(line.size() <= 80, line);
  CHECK(has(text, "AMD Radeon RX 9070 XT (gfx1201), 64 compute units"));
  CHECK(has(text, "head dim 128, dense, f16, batch 4, 32 heads"));
  CHECK(has(text, "no speed: wrong numbers: relative L1 0.2"));
  CHECK(has(text, "50 %"));
  CHECK(has(text, "512 MiB were overwritten"));
  CHECK(has(text, "560 GB/s measured here"));
  // One line for kernel, call and prologue of a length.
  CHECK(has(text, "   1024  sage f16      550   519-567  50 %    335   316-346    10   1.37  0.0101\n"));

  result.rows.front().peak_share = not_known;
  CHECK(has(bench_text(result, 80), "?"));
}

TEST_CASE("bench: other shapes are beside the plain one, and no point of a plot") {
  BenchResult result = test::sample_result();
  const std::string before = bench_svg(result);
  BenchRow row = test::sample_row("sage f16", BenchPart::kernel, 4096, 9.0);
  row.form = BenchForm::cross;
  row.shape.tokens = 2048;
  row.shape.kv_tokens = 8192;
  row.of_plain = 0.97;
  result.rows.push_back(row);
  row.part = BenchPart::call;
  row.of_plain = 0.95;
  result.rows.push_back(row);
  CHECK(bench_svg(result) == before);
  const std::string text = bench_text(result, 80);
  CHECK(has(text, "32 heads, four times as many keys\n"));
  CHECK(has(text, "  2048:8192  sage f16      122   115-126  97 %    122   115-126  95 %  0.0101\n"));
  CHECK(has(bench_html(result), "4 x 32 x 2048:8192 x 128"));
}

TEST_CASE("bench: calls alone have their times") {
  BenchResult result = test::sample_result();
  std::erase_if(result.rows, [](const BenchRow& row) { return row.part != BenchPart::call; });
  const std::string text = bench_text(result, 80);
  CHECK(has(text, "    1024  sage f16           0.205  (0.199 to 0.217)     335.4     50 %   0.0101\n"));
  CHECK(!has(text, "kernel alone"));
}

TEST_CASE("bench: a tuning tells no compiler from no other kernels") {
  BenchResult result = test::sample_result();
  result.tuning = BenchTuning{"", "", 0, {}, {}, false};
  CHECK(has(bench_text(result, 80), "there are no other kernels for this GPU"));
  std::istringstream stream(bench_text(result, 80));
  for (std::string line; std::getline(stream, line);) CHECK_MESSAGE(line.size() <= 80, line);
  result.tuning->alternatives = 2;
  CHECK(has(bench_text(result, 80), "no compiler here could make the alternatives"));
}

TEST_CASE("bench: a plot has colours for dark pages, and colours without a style") {
  for (const std::string& text : {bench_svg(test::sample_result()), bench_html(test::sample_result())}) {
    CHECK(has(text, "prefers-color-scheme: dark"));
    CHECK(has(text, "class=\"s0l\" stroke=\"#0072B2\""));
  }
}

TEST_CASE("bench: a model says so in the table, in the plot and in the page") {
  BenchResult result;
  result.origin = BenchOrigin::modelled;
  result.device.target = "gfx1201";
  result.notes = {std::string(model_warning)};
  BenchRow row = test::sample_row("sage f16", BenchPart::kernel, 8192, 1.0);
  row.milliseconds.reset();
  row.accuracy.reset();
  row.tflops = not_known;
  result.rows = {row};
  for (const std::string& text : {bench_text(result, 80), bench_svg(result), bench_html(result)}) {
    CHECK(has(text, "A MODEL, NOT A MEASUREMENT"));
    CHECK(has(text, "odelled share of"));
  }
  CHECK(has(bench_text(result, 80), "Modelled, not measured."));
}

TEST_CASE("bench: a plot stands alone, whatever names are in it") {
  BenchResult result = test::sample_result();
  result.device.name = "<script>alert(1)</script> & \"x\"";
  result.rows[0].contender = "a<b\x1b[31m";
  result.rows.push_back(test::refused_row(4096));
  for (const std::string& text : {bench_svg(result), bench_html(result)}) {
    CHECK(!has(text, "<script>"));
    CHECK(!has(text, "\x1b"));
    CHECK(has(text, "&lt;script&gt;"));
    CHECK(has(text, "TFLOPS"));
    CHECK(has(text, "tokens"));
    CHECK(!has(text, "nan"));
    CHECK(!has(text, "inf"));
    CHECK(!has(text, "url("));
    CHECK(!has(text, "href"));
  }
  CHECK(has(bench_html(result), "no speed: wrong numbers"));
}

TEST_CASE("bench: nothing to show, and one point, are pictures too") {
  BenchResult result = test::sample_result();
  result.rows = {test::refused_row(4096)};
  CHECK(has(bench_svg(result), "There is no speed to show."));
  result.rows = {test::sample_row("sage f16", BenchPart::call, 4096, 0.001)};
  CHECK(has(bench_svg(result), "4096"));
  result.rows[0].tflops = 1e-7;
  result.rows[0].milliseconds = spread_of({1e9});
  CHECK(!has(bench_svg(result), "nan"));
}
