// The reader against what clang-19 really writes. Without that compiler the whole program reports "skipped" (status
// 77).
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include "code_object/bundle.hpp"
#include "code_object/code_object.hpp"
#include "code_object/compressed_bundle.hpp"
#include "programs.hpp"

using namespace sage::code_object;
using namespace sage::test;

namespace {

constexpr const char* compiler = "clang++-19";

// `visible` kernels are those that a runtime finds; `hidden` has clang's default visibility for this target.
constexpr std::string_view source = R"(
#define KERNEL extern "C" __attribute__((amdgpu_kernel))
#define VISIBLE __attribute__((visibility("protected")))
struct Args { const float* in; float* out; int n; };
KERNEL VISIBLE void scale(Args a) {
  const int i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
  if (i < a.n) a.out[i] = a.in[i] * 2.0f;
}
KERNEL VISIBLE void shared(Args a) {
  static __attribute__((address_space(3), loader_uninitialized)) float tile[1000];
  const int t = __builtin_amdgcn_workitem_id_x();
  tile[t] = a.in[t];
  __builtin_amdgcn_s_barrier();
  a.out[t] = tile[255 - t];
}
KERNEL VISIBLE void scratch(Args a) {
  volatile float local[64];
  for (int i = 0; i < 64; ++i) local[i] = a.in[i];
  a.out[0] = local[a.n & 63];
}
KERNEL void hidden(Args a) { a.out[0] = 1.0f; }
)";

struct Built {
  Outcome outcome;
  std::vector<std::byte> file;
  std::filesystem::path path;
};

Built build(const TemporaryFolder& folder, const std::string& target, const std::string& more = "") {
  Built built;
  const auto in = folder.path() / "kernels.cpp";
  built.path = folder.path() / "kernels.hsaco";
  write_file(in, source);
  std::filesystem::remove(built.path);
  built.outcome = run(std::string{compiler} + " --target=amdgcn-amd-amdhsa -O2 -nogpulib -mcpu=" + target + " " + more +
                      " " + in.string() + " -o " + built.path.string());
  if (built.outcome.status == 0) built.file = read_file(built.path);
  return built;
}

CodeObject read(const Built& built) {
  REQUIRE_MESSAGE(built.outcome.status == 0, built.outcome.output);
  auto object = read_code_object(built.file);
  REQUIRE_MESSAGE(object.ok(), object.error().message);
  return std::move(object).value();
}

// The value of ".key:" in the part of llvm-readelf's listing that belongs to `kernel`. Its entries start with "  - ".
std::string listed(const std::string& listing, const std::string& kernel, const std::string& key) {
  std::size_t start = listing.find("\n  - ");
  while (start != std::string::npos) {
    const std::size_t end = listing.find("\n  - ", start + 1);
    const std::string part = listing.substr(start, end == std::string::npos ? end : end - start);
    if (part.find(".name:           " + kernel + "\n") != std::string::npos) {
      const std::size_t at = part.find(key + ":");
      if (at == std::string::npos) return "";
      const std::size_t value = part.find_first_not_of(' ', at + key.size() + 1);
      return part.substr(value, part.find('\n', value) - value);
    }
    start = end;
  }
  return "";
}

}  // namespace

TEST_CASE("every processor of this compiler is recognised, and its objects are free of contradictions") {
  const TemporaryFolder folder;
  for (const std::string name :
       {"gfx803",  "gfx900",  "gfx902",  "gfx904",  "gfx906",  "gfx908",  "gfx909",  "gfx90a",
        "gfx90c",  "gfx940",  "gfx941",  "gfx942",  "gfx1010", "gfx1011", "gfx1012", "gfx1013",
        "gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036", "gfx1100",
        "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1200", "gfx1201"}) {
    CAPTURE(name);
    const CodeObject object = read(build(folder, name));
    CHECK(object.target.processor == name);
    CHECK(object.version == 5);
    CHECK(object.kernels.size() == 4);
    for (const Kernel& kernel : object.kernels) {
      CHECK(contradictions(object, kernel).empty());
      CHECK(kernel.code_size > 0);
      REQUIRE(kernel.descriptor.has_value());
      // Only processors before gfx9 are slow with denormals, and flush them by default.
      CHECK(kernel.descriptor->f32_denormal_mode() == (name == "gfx803" ? 0 : 3));
    }
  }
}

TEST_CASE("generic processors need code object version 6") {
  const TemporaryFolder folder;
  for (const std::string name :
       {"gfx9-generic", "gfx10-1-generic", "gfx10-3-generic", "gfx11-generic", "gfx12-generic"}) {
    CAPTURE(name);
    const CodeObject object = read(build(folder, name, "-mcode-object-version=6"));
    CHECK(object.target.processor == name);
    CHECK(object.target.generic_version == 1);
    CHECK(object.version == 6);
    for (const Kernel& kernel : object.kernels) CHECK(contradictions(object, kernel).empty());
  }
}

TEST_CASE("features and code object versions") {
  const TemporaryFolder folder;
  for (const std::string id : {"gfx90a", "gfx90a:xnack+", "gfx90a:xnack-", "gfx90a:sramecc+:xnack-", "gfx942:sramecc-",
                               "gfx942:sramecc+:xnack+"}) {
    for (const unsigned version : {4U, 5U, 6U}) {
      CAPTURE(id);
      CAPTURE(version);
      const CodeObject object = read(build(folder, id, "-mcode-object-version=" + std::to_string(version)));
      CHECK(target_id(object.target) == id);
      CHECK(object.version == version);
      for (const Kernel& kernel : object.kernels) CHECK(contradictions(object, kernel).empty());
    }
  }
}

TEST_CASE("resources agree with llvm-readelf") {
  if (find_program("llvm-readelf-19").empty()) {
    MESSAGE("llvm-readelf-19 is not on PATH: comparison left out");
    return;
  }
  const TemporaryFolder folder;
  for (const std::string name : {"gfx1201", "gfx1100", "gfx90a", "gfx942"}) {
    const Built built = build(folder, name);
    const CodeObject object = read(built);
    const std::string listing = run("llvm-readelf-19 --notes " + built.path.string()).output;
    for (const Kernel& kernel : object.kernels) {
      const KernelMetadata& meta = kernel.metadata;
      CAPTURE(name);
      CAPTURE(meta.name);
      CHECK(listed(listing, meta.name, ".vgpr_count") == std::to_string(meta.vgpr_count));
      CHECK(listed(listing, meta.name, ".sgpr_count") == std::to_string(meta.sgpr_count));
      CHECK(listed(listing, meta.name, ".vgpr_spill_count") == std::to_string(meta.vgpr_spill_count));
      CHECK(listed(listing, meta.name, ".group_segment_fixed_size") == std::to_string(meta.lds_bytes));
      CHECK(listed(listing, meta.name, ".private_segment_fixed_size") == std::to_string(meta.scratch_bytes_per_lane));
      CHECK(listed(listing, meta.name, ".kernarg_segment_size") == std::to_string(meta.kernarg_bytes));
      CHECK(listed(listing, meta.name, ".wavefront_size") == std::to_string(meta.wavefront_size));
      CHECK(listed(listing, meta.name, ".max_flat_workgroup_size") == std::to_string(meta.max_workgroup_size));
    }
    CHECK(object.find_kernel("shared")->metadata.lds_bytes == 4000);
    CHECK(object.find_kernel("scratch")->metadata.scratch_bytes_per_lane >= 256);
    CHECK(object.find_kernel("scale")->metadata.explicit_kernarg_bytes == 24);
  }
}

TEST_CASE("only kernels that the runtime can find count as exported") {
  const TemporaryFolder folder;
  const CodeObject object = read(build(folder, "gfx1201"));
  CHECK(object.find_kernel("scale")->exported);
  CHECK_FALSE(object.find_kernel("hidden")->exported);
}

TEST_CASE("a compiled object cut off after every byte") {
  const TemporaryFolder folder;
  const Built built = build(folder, "gfx1201");
  REQUIRE(built.outcome.status == 0);
  for (std::size_t length = 0; length < built.file.size(); ++length) {
    const std::vector<std::byte> part(built.file.begin(), built.file.begin() + static_cast<std::ptrdiff_t>(length));
    if (read_code_object(part).ok()) FAIL_CHECK("accepted at length ", length);
  }
}

TEST_CASE("an object file of the compiler is not a code object") {
  const TemporaryFolder folder;
  const Built built = build(folder, "gfx1201", "-c");
  REQUIRE(built.outcome.status == 0);
  CHECK(read_code_object(built.file).error().code == Errc::unsupported);
}

TEST_CASE("bundles of the real bundler") {
  const std::string bundler = find_program("clang-offload-bundler-19");
  if (bundler.empty()) {
    MESSAGE("clang-offload-bundler-19 is not on PATH: left out");
    return;
  }
  const TemporaryFolder folder;
  const std::string host = (folder.path() / "host").string();
  const std::string bundle = (folder.path() / "bundle").string();
  write_file(host, "");
  std::string inputs = " --input=" + host;
  std::vector<std::vector<std::byte>> parts;
  for (const std::string name : {"gfx1201", "gfx90a:xnack+"}) {
    const Built built = build(folder, name);
    REQUIRE(built.outcome.status == 0);
    const auto copy = folder.path() / ("part" + std::to_string(parts.size()));
    std::filesystem::rename(built.path, copy);
    parts.push_back(built.file);
    inputs += " --input=" + copy.string();
  }
  const std::string targets =
      " --type=o --bundle-align=4096 "
      "--targets=host-x86_64-unknown-linux,hipv4-amdgcn-amd-amdhsa--gfx1201,hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+";
  const auto check_plain = [&](ByteSpan bytes) {
    const auto table = read_bundle_table(bytes, bytes.size());
    REQUIRE_MESSAGE(table.ok(), table.error().message);
    REQUIRE(table->entries.size() == 3);
    CHECK(table->entries[2].parsed().target == "gfx90a:xnack+");
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto contents = bundle_contents(bytes, table->entries[i + 1]);
      REQUIRE(contents.ok());
      CHECK(std::equal(contents->begin(), contents->end(), parts[i].begin(), parts[i].end()));
      CHECK(read_code_object(*contents).ok());
    }
  };

  const Outcome plain = run(bundler + targets + inputs + " --output=" + bundle);
  REQUIRE_MESSAGE(plain.status == 0, plain.output);
  check_plain(read_file(bundle));

  // This bundler writes version 2 and prefers zstd; the other versions and zlib are tested with hand-made headers.
  const Outcome packed = run(bundler + targets + inputs + " --compress --output=" + bundle);
  REQUIRE_MESSAGE(packed.status == 0, packed.output);
  const auto bytes = read_file(bundle);
  REQUIRE(bundle_kind(bytes) == BundleKind::compressed);
  CHECK(read_compressed_header(bytes)->version == 2);
  const auto unpacked = decompress_bundle(bytes);
  REQUIRE_MESSAGE(unpacked.ok(), unpacked.error().message);
  check_plain(*unpacked);
}

int main(int argc, char** argv) {
  if (find_program(compiler).empty()) {
    std::printf("skipped: %s is not on PATH\n", compiler);
    return 77;
  }
  return doctest::Context(argc, argv).run();
}
