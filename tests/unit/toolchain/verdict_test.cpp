#include "doctor/toolchain/verdict.hpp"

#include <doctest/doctest.h>

#include "doctor/toolchain/choice.hpp"
#include "probes/base/text.hpp"

namespace sage {
using namespace std::string_literals;

namespace {

GfxTables tables() {
  Result<GfxTables> result = GfxTables::embedded();
  REQUIRE(result.ok());
  return *std::move(result);
}

/// Debian 12: hipcc 5.2.3 over clang 15.
Toolchain debian_hipcc() {
  Toolchain compiler;
  compiler.path = "/usr/bin/hipcc"s;
  compiler.kind = CompilerKind::hipcc;
  compiler.origin = ToolchainOrigin::distribution;
  compiler.root = "/usr"s;
  compiler.rocm_version = "5.2"s;
  compiler.clang = "/usr/bin/clang++-15"s;
  compiler.clang_version = "15.0.6"s;
  compiler.device_libraries = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"s;
  compiler.device_targets = std::vector<std::string>{"gfx1030", "gfx90a"};
  compiler.hip_headers = "/usr/include"s;
  compiler.headers = std::vector<std::string>{};
  compiler.linker = "/usr/lib/llvm-15/bin/lld"s;
  compiler.bundler = "/usr/lib/llvm-15/bin/clang-offload-bundler"s;
  compiler.trampoline = false;
  return compiler;
}

Toolchain debian_clang(const std::string& version) {
  Toolchain compiler = debian_hipcc();
  compiler.path = "/usr/bin/clang++-" + version;
  compiler.kind = CompilerKind::clang;
  compiler.rocm_version = Fact<std::string>::unknown("none");
  compiler.clang = compiler.path;
  compiler.clang_version = version;
  compiler.device_libraries = ""s;
  compiler.device_targets = std::vector<std::string>{};
  compiler.bundler = ""s;
  return compiler;
}

Toolchain rocm_amdclang(const std::string& rocm, const std::string& clang, std::vector<std::string> targets) {
  Toolchain compiler = debian_hipcc();
  compiler.path = "/opt/rocm-" + rocm + "/lib/llvm/bin/amdclang++";
  compiler.kind = CompilerKind::amdclang;
  compiler.origin = ToolchainOrigin::rocm_root;
  compiler.root = "/opt/rocm-" + rocm;
  compiler.rocm_version = rocm;
  compiler.clang_version = clang;
  compiler.device_targets = std::move(targets);
  compiler.headers = std::vector<std::string>{"hipblas", "rocprim", "thrust"};
  return compiler;
}

Toolchain library(CompilerKind kind, const std::string& rocm) {
  Toolchain compiler;
  compiler.path = "/site/torch/lib/" + std::string(enum_name(kind));
  compiler.kind = kind;
  compiler.origin = ToolchainOrigin::torch_wheel;
  compiler.rocm_version = rocm;
  compiler.clang_version = Fact<std::string>::unknown("LLVM is inside");
  compiler.trampoline = false;
  return compiler;
}

CanBuild kernels(const Toolchain& compiler, const char* target) {
  return verdict_of(compiler, BuildPurpose::kernels, target, tables()).can;
}

CanBuild hip(const Toolchain& compiler, const char* target) {
  return verdict_of(compiler, BuildPurpose::hip_programs, target, tables()).can;
}

CanBuild extensions(const Toolchain& compiler, const char* target) {
  return verdict_of(compiler, BuildPurpose::extensions, target, tables()).can;
}

}  // namespace

TEST_CASE("hipcc 5.2.3 builds gfx90a and gfx1030, gfx1100 only freestanding, gfx1201 not at all") {
  const Toolchain hipcc = debian_hipcc();
  for (const char* target : {"gfx90a", "gfx1030"}) {
    CHECK(kernels(hipcc, target) == CanBuild::yes);
    CHECK(hip(hipcc, target) == CanBuild::yes);
  }
  CHECK(kernels(hipcc, "gfx1100") == CanBuild::yes);
  CHECK(hip(hipcc, "gfx1100") == CanBuild::no);
  const Verdict verdict = verdict_of(hipcc, BuildPurpose::extensions, "gfx1100", tables());
  CHECK(contains(verdict.reason, "cannot find ROCm device library for gfx1100"));
  CHECK(kernels(hipcc, "gfx1201") == CanBuild::no);
  CHECK(kernels(hipcc, "gfx942") == CanBuild::no);
}

TEST_CASE("headers of thrust, rocprim and hipblas make the difference between HIP code and an extension") {
  Toolchain hipcc = debian_hipcc();
  CHECK(extensions(hipcc, "gfx90a") == CanBuild::no);
  hipcc.headers = std::vector<std::string>{"hipblas", "rocprim", "thrust"};
  CHECK(extensions(hipcc, "gfx90a") == CanBuild::yes);
  hipcc.headers = Fact<std::vector<std::string>>::unknown("refused");
  CHECK(extensions(hipcc, "gfx90a") == CanBuild::untried);
}

TEST_CASE("a plain clang 19 builds freestanding code for new GPUs and no HIP code") {
  const Toolchain clang = debian_clang("19.1.7");
  for (const char* target : {"gfx1100", "gfx1201", "gfx942"}) {
    CHECK(kernels(clang, target) == CanBuild::yes);
    CHECK(hip(clang, target) == CanBuild::no);
  }
}

TEST_CASE("clang 14 lacks our flags, and without lld nothing is linked") {
  CHECK(kernels(debian_clang("14.0.6"), "gfx90a") == CanBuild::no);
  Toolchain clang = debian_clang("19.1.7");
  clang.linker = ""s;
  CHECK(kernels(clang, "gfx1201") == CanBuild::no);
}

TEST_CASE("where the release that brought a target is not known exactly, the verdict is open") {
  CHECK(kernels(debian_clang("20.1"), "gfx950") == CanBuild::untried);
  CHECK(kernels(debian_clang("21.1"), "gfx950") == CanBuild::yes);
  CHECK(kernels(debian_clang("19.1.7"), "gfx950") == CanBuild::no);
}

TEST_CASE("AMD's clang may know a target before its number says so: the device library decides") {
  CHECK(kernels(rocm_amdclang("7.2.0", "22", {"gfx1201"}), "gfx1201") == CanBuild::yes);
  CHECK(kernels(rocm_amdclang("6.2.0", "18", {"gfx1201"}), "gfx1201") == CanBuild::yes);
  CHECK(kernels(rocm_amdclang("6.2.0", "18", {}), "gfx1201") == CanBuild::untried);
  CHECK(extensions(rocm_amdclang("7.2.0", "22", {"gfx1201"}), "gfx1201") == CanBuild::yes);
  CHECK(extensions(rocm_amdclang("7.2.0", "22", {"gfx942"}), "gfx1201") == CanBuild::no);
}

TEST_CASE("a library knows the targets of its ROCm") {
  const Toolchain old = library(CompilerKind::hiprtc, "5.2");
  CHECK(kernels(old, "gfx90a") == CanBuild::yes);
  CHECK(kernels(old, "gfx1100") == CanBuild::no);
  const Toolchain wheel = library(CompilerKind::hiprtc, "7.2");
  CHECK(kernels(wheel, "gfx1201") == CanBuild::yes);
  CHECK(kernels(wheel, "gfx1102") == CanBuild::yes);
  CHECK(kernels(wheel, "gfx1250") == CanBuild::untried);
  CHECK(kernels(library(CompilerKind::comgr, "6.2"), "gfx1201") == CanBuild::untried);
  CHECK(extensions(wheel, "gfx1201") == CanBuild::no);
}

TEST_CASE("nvcc builds for NVIDIA GPUs and the others for AMD's") {
  Toolchain nvcc;
  nvcc.kind = CompilerKind::nvcc;
  CHECK(kernels(nvcc, "gfx1201") == CanBuild::no);
  CHECK(kernels(nvcc, "sm_90") == CanBuild::yes);
  CHECK(kernels(debian_hipcc(), "sm_90") == CanBuild::no);
}

TEST_CASE("what is unknown about a compiler leaves its verdict open") {
  Toolchain hipcc = debian_hipcc();
  hipcc.clang_version = Fact<std::string>::unknown("no folder");
  CHECK(kernels(hipcc, "gfx90a") == CanBuild::untried);
  hipcc = debian_hipcc();
  hipcc.linker = Fact<std::string>::unknown("refused");
  CHECK(kernels(hipcc, "gfx90a") == CanBuild::untried);
  hipcc = debian_hipcc();
  hipcc.device_libraries = Fact<std::string>::unknown("refused");
  CHECK(hip(hipcc, "gfx90a") == CanBuild::untried);
  CHECK(kernels(debian_clang("19.1.7"), "gfx9999") == CanBuild::untried);
}

TEST_CASE("the choice: what can build, with a ROCm tree, of torch's release, no trampoline") {
  Facts facts;
  Toolchain trampoline = rocm_amdclang("7.2.0", "22", {"gfx1201"});
  trampoline.path = "/venv/bin/amdclang++"s;
  trampoline.trampoline = true;
  facts.toolchains.compilers = std::vector<Toolchain>{
      debian_hipcc(), library(CompilerKind::hiprtc, "7.2"), debian_clang("19.1.7"), trampoline,
      rocm_amdclang("7.1.0", "20", {"gfx1201"}), rocm_amdclang("7.2.0", "22", {"gfx1201"})};
  TorchInstall torch;
  torch.flavour = TorchFlavour::rocm;
  torch.version = "2.9.1+rocm7.2"s;
  PythonEnvironment environment;
  environment.torch = std::vector<TorchInstall>{torch};
  facts.python.environments = std::vector<PythonEnvironment>{environment};
  const GfxTables gfx = tables();

  std::vector<std::string> paths;
  for (const RankedToolchain& one : rank_toolchains(facts, gfx, "gfx1201", BuildPurpose::kernels)) {
    paths.push_back(one.compiler->path);
  }
  CHECK(paths == std::vector<std::string>{"/opt/rocm-7.2.0/lib/llvm/bin/amdclang++", "/venv/bin/amdclang++",
                                          "/opt/rocm-7.1.0/lib/llvm/bin/amdclang++", "/usr/bin/clang++-19.1.7",
                                          "/site/torch/lib/hipRTC", "/usr/bin/hipcc"});
  CHECK(best_toolchain(facts, gfx, "gfx1201", BuildPurpose::extensions)->path ==
        "/opt/rocm-7.2.0/lib/llvm/bin/amdclang++");
  facts.toolchains.compilers = std::vector<Toolchain>{debian_hipcc()};
  CHECK(best_toolchain(facts, gfx, "gfx1201", BuildPurpose::kernels) == nullptr);
  facts.toolchains.compilers = Fact<std::vector<Toolchain>>::unknown("not looked at");
  CHECK(best_toolchain(facts, gfx, "gfx1201", BuildPurpose::kernels) == nullptr);
}

}  // namespace sage
