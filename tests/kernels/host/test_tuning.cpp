// The choice of kernels that lies beside the code objects: its text, and what a context makes of it.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "programs.hpp"
#include "runtime/tuning.hpp"
#include "runtime_fixture.hpp"

using namespace sage::test;
namespace device = sage::device;
namespace runtime = sage::runtime;

namespace {

constexpr const char* other = "sage_attention_d64_F16_B256K64Q32";

device::ShapeClass shape(int dp, device::Length length, bool causal) {
  return {dp, device::PvType::f16, length, causal};
}

runtime::Tuning sample() {
  runtime::Tuning tuning;
  tuning.source = runtime::device_text_digest();
  tuning.target = "gfx1201";
  tuning.gpu = "Fake GPU";
  tuning.choices = {{shape(64, device::Length::short_q, false), other},
                    {shape(128, device::Length::long_q, true), "sage_attention_d128_F16_SHORT"}};
  return tuning;
}

std::string reason_of(const std::string& text) {
  runtime::Tuning read;
  return runtime::read_tuning_text(text, read);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// A folder of code objects with an alternative among them.
class Folder {
 public:
  Folder() {
    ObjectSpec spec = gfx1201_spec();
    const device::Tile& tile = device::tile_at(device::tile_index(device::Family::gfx12, other));
    KernelSpec kernel = spec.kernels.back();
    kernel.name = tile.kernel;
    kernel.max_threads = static_cast<std::uint32_t>(tile.threads());
    spec.kernels.push_back(kernel);
    const Buffer file = build_object(spec).file;
    write("all.hsaco", std::string{sage::code_object::as_text(file)});
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
  }
  void tune(const std::string& text) const { write("tuning.txt", text); }
  [[nodiscard]] std::string path() const { return folder_.path().string(); }

 private:
  TemporaryFolder folder_;
};

struct Opened {
  FakeDriver driver{FAKE_HIP6};
  ContextHolder holder;
  sage_error error{};

  explicit Opened(const Folder& folder) {
    const auto status = sage_context_from_folder(folder.path().c_str(), nullptr, &holder.context, &error);
    REQUIRE_MESSAGE(status == SAGE_OK, error.text);
  }
  [[nodiscard]] std::string tuning() const { return sage_context_tuning(holder.context); }
  std::string kernel(int head_dim, int q_len, std::uint32_t mask) {
    sage_attention_problem problem = sample_problem();
    problem.head_dim = head_dim;
    problem.q_len = q_len;
    problem.mask = mask;
    problem.q = problem.out = contiguous(problem.q_heads, q_len, head_dim);
    problem.k = problem.v = contiguous(problem.kv_heads, problem.kv_len, head_dim);
    const char* name = nullptr;
    REQUIRE_MESSAGE(sage_attention_kernel(holder.context, &problem, &name, &error) == SAGE_OK, error.text);
    return name;
  }
};

}  // namespace

TEST_CASE("the classes of shapes are numbered without gaps") {
  for (std::size_t i = 0; i < device::shape_class_count; ++i) {
    CHECK(device::class_index(device::class_at(i)) == i);
    for (std::size_t k = 0; k < i; ++k)
      CHECK(runtime::class_text(device::class_at(k)) != runtime::class_text(device::class_at(i)));
  }
}

TEST_CASE("names of kernels are those of one row each") {
  for (std::size_t i = 0; i < device::tile_count; ++i) {
    const device::Tile& tile = device::tile_at(i);
    CAPTURE(tile.kernel);
    CHECK(device::tile_index(tile.family, tile.kernel) == i);
    CHECK(tile.alternative == (i >= device::tile_table.size()));
    const int shared_kib = tile.family == device::Family::sm90 ? 227 : device::is_nvidia(tile.family) ? 99 : 64;
    CHECK(device::tile_lds_bytes(tile) <= shared_kib * 1024);
  }
}

TEST_CASE("what is written is read") {
  const runtime::Tuning tuning = sample();
  const std::string text = runtime::tuning_text(tuning);
  runtime::Tuning read;
  REQUIRE(runtime::read_tuning_text(text, read) == "");
  CHECK(read.source == tuning.source);
  CHECK(read.target == tuning.target);
  CHECK(read.gpu == tuning.gpu);
  REQUIRE(read.choices.size() == 2);
  CHECK(read.choices[0].shape == tuning.choices[0].shape);
  CHECK(read.choices[1].kernel == tuning.choices[1].kernel);
  CHECK(runtime::tuning_text(read) == text);
}

TEST_CASE("every cut, and every other damage, has its reason") {
  const std::string good = runtime::tuning_text(sample());
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    CHECK(reason_of(good.substr(0, size)) != "");
  }
  CHECK(reason_of(good + "\n") == "it goes on after its end");
  CHECK(reason_of(replaced(good, "tuning 1", "tuning 2")) == "it has version \"2\"; this library reads version 1");
  CHECK(reason_of(replaced(good, "gpu ", "cpu ")) == "it has no line \"gpu ...\" where one belongs");
  CHECK(reason_of(replaced(good, "d64 F16", "d65 F16")).find("choice that means nothing") != std::string::npos);
  CHECK(reason_of(replaced(good, "choice d128", "chance d128")).find("line that means nothing") != std::string::npos);
  CHECK(reason_of(replaced(good, "Fake", std::string("F\x01") + "ke")) == "its line \"gpu ...\" is no plain text");
  CHECK(reason_of(replaced(good, "end", "choice d64 F16 SHORT dense x\nend")) == "it has two choices for d64 F16 SHORT dense");
  CHECK(reason_of(good + std::string(1 << 17, ' ')).find("longer than") != std::string::npos);
}

TEST_CASE("a choice is for one GPU, one source and kernels that can compute the class") {
  runtime::ChosenTiles chosen{};
  const auto why = [&](const runtime::Tuning& tuning) {
    return runtime::apply_tuning(tuning, device::Family::gfx12, "gfx1201", "Fake GPU", chosen);
  };
  CHECK(why(sample()) == "");
  REQUIRE(chosen[device::class_index(shape(64, device::Length::short_q, false))] != nullptr);
  CHECK(chosen[device::class_index(shape(64, device::Length::short_q, true))] == nullptr);
  runtime::Tuning tuning = sample();
  tuning.source[0] = tuning.source[0] == '0' ? '1' : '0';
  CHECK(why(tuning) == "it was made for another version of the kernels");
  CHECK(chosen[device::class_index(shape(64, device::Length::short_q, false))] == nullptr);
  tuning = sample();
  tuning.target = "gfx1200";
  CHECK(why(tuning) == "it was measured on \"gfx1200\", and this GPU is gfx1201");
  tuning = sample();
  tuning.gpu = "Other GPU";
  CHECK(why(tuning) == "it was measured on \"Other GPU\", and this GPU is \"Fake GPU\"");
  tuning = sample();
  tuning.choices[0].kernel = "sage_attention_d64_F16_NONE";
  CHECK(why(tuning).find("a kernel that does not exist") != std::string::npos);
  tuning.choices[0].kernel = "sage_attention_d128_F16_LONG";
  CHECK(why(tuning).find("which that kernel can't compute") != std::string::npos);
  tuning.choices[0].kernel = "sage_attention_d64_FP8_LONG";
  CHECK(why(tuning).find("which that kernel can't compute") != std::string::npos);
}

TEST_CASE("a context takes what was chosen, and only for the chosen class") {
  const Folder folder;
  {
    Opened opened(folder);
    CHECK(opened.tuning() == "");
    CHECK(opened.kernel(64, 100, 0) == "sage_attention_d64_F16_SHORT");
    CHECK(std::string{sage_context_gpu_name(opened.holder.context)} == "Fake GPU");
  }
  folder.tune(runtime::tuning_text(sample()));
  Opened opened(folder);
  CHECK(opened.tuning() == "2 choices of tuning.txt");
  CHECK(opened.kernel(64, 100, 0) == other);
  CHECK(opened.kernel(40, 100, 0) == other);
  CHECK(opened.kernel(64, 100, SAGE_ATTENTION_MASK_CAUSAL_TOP_LEFT) == "sage_attention_d64_F16_SHORT");
  CHECK(opened.kernel(64, 4096, 0) == "sage_attention_d64_F16_LONG");
  CHECK(opened.kernel(128, 4096, SAGE_ATTENTION_MASK_CAUSAL_BOTTOM_RIGHT) == "sage_attention_d128_F16_SHORT");
  CHECK(opened.kernel(128, 4096, 0) == "sage_attention_d128_F16_LONG");
}

TEST_CASE("what is launched is the chosen kernel with its own workgroups") {
  const Folder folder;
  folder.tune(runtime::tuning_text(sample()));
  Opened opened(folder);
  const sage_attention_problem problem = sample_problem();
  std::uint64_t bytes = 0;
  REQUIRE(sage_attention_workspace(opened.holder.context, &problem, &bytes, &opened.error) == SAGE_OK);
  const sage_attention_buffers buffers = sample_buffers(bytes);
  REQUIRE(sage_attention_launch(opened.holder.context, &problem, &buffers, nullptr, &opened.error) == SAGE_OK);
  const fake_launch& last = opened.driver.state->log[opened.driver.state->launches - 1];
  const device::Tile& tile = device::tile_at(device::tile_index(device::Family::gfx12, other));
  CHECK(std::string{last.kernel} == other);
  CHECK(last.block[0] == static_cast<unsigned>(tile.threads()));
  CHECK(last.grid[0] == static_cast<unsigned>(problem.batch * problem.q_heads *
                                              device::ceil_div(problem.q_len, tile.queries())));
}

TEST_CASE("a file that can't be used is told of and costs nothing") {
  const Folder folder;
  const auto told = [&] {
    Opened opened(folder);
    CHECK(opened.kernel(64, 100, 0) == "sage_attention_d64_F16_SHORT");
    return opened.tuning();
  };
  const std::string good = runtime::tuning_text(sample());
  folder.tune("");
  CHECK(told() == "tuning.txt is ignored: it is empty");
  folder.tune(good.substr(0, good.size() / 2));
  CHECK(told().find("tuning.txt is ignored: it ") == 0);
  folder.tune(replaced(good, "gfx1201", "gfx1100"));
  CHECK(told().find("it was measured on \"gfx1100\"") != std::string::npos);
  folder.tune(std::string(300000, 'x'));
  CHECK(told() == "tuning.txt is ignored: it is longer than 65536 bytes");
  std::filesystem::remove(folder.path() + "/tuning.txt");
  REQUIRE(mkfifo((folder.path() + "/tuning.txt").c_str(), 0600) == 0);
  CHECK(told() == "tuning.txt is ignored: it is no regular file");
  std::filesystem::remove(folder.path() + "/tuning.txt");
  std::filesystem::create_directory(folder.path() + "/tuning.txt");
  CHECK(told() == "tuning.txt is ignored: it is no regular file");
}

TEST_CASE("a choice whose kernel was not built is passed over for itself alone") {
  const Folder folder;
  runtime::Tuning tuning = sample();
  tuning.choices[0].kernel = "sage_attention_d64_F16_B256K64X";
  folder.tune(runtime::tuning_text(tuning));
  Opened opened(folder);
  CHECK(opened.tuning() == "1 choice of tuning.txt; the kernels of 1 more are not there");
  CHECK(opened.kernel(64, 100, 0) == "sage_attention_d64_F16_SHORT");
  CHECK(opened.kernel(128, 4096, SAGE_ATTENTION_MASK_CAUSAL_TOP_LEFT) == "sage_attention_d128_F16_SHORT");
}

TEST_CASE("without a context there are empty texts") {
  CHECK(std::string{sage_context_tuning(nullptr)} == "");
  CHECK(std::string{sage_context_gpu_name(nullptr)} == "");
}
