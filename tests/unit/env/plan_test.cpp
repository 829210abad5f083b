#include "doctor/env/plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "doctor/env/fingerprint.hpp"
#include "doctor/env/plan_parts.hpp"
#include "tests/support/sample_facts.hpp"
#include "tests/unit/checks/machines.hpp"

namespace sage {
namespace {

Toolchain hipcc(const std::string& root) {
  Toolchain toolchain;
  toolchain.path = root + "/bin/hipcc";
  toolchain.canonical = toolchain.path;
  toolchain.kind = CompilerKind::hipcc;
  toolchain.origin = ToolchainOrigin::rocm_root;
  toolchain.root = root;
  toolchain.rocm_version = std::string("7.2.0");
  toolchain.version_source = root + "/.info/version";
  toolchain.clang = root + "/lib/llvm/bin/clang++";
  toolchain.clang_version = std::string("20");
  toolchain.device_libraries = root + "/amdgcn/bitcode";
  toolchain.device_targets = std::vector<std::string>{"gfx1201", "gfx1100", "gfx942"};
  toolchain.hip_headers = root + "/include";
  toolchain.headers = std::vector<std::string>{};
  toolchain.linker = root + "/lib/llvm/bin/ld.lld";
  toolchain.bundler = root + "/lib/llvm/bin/clang-offload-bundler";
  toolchain.on_path = false;
  toolchain.trampoline = false;
  return toolchain;
}

Toolchain bare_clang() {
  Toolchain toolchain = hipcc("/usr/lib/llvm-19");
  toolchain.path = "/usr/lib/llvm-19/bin/clang++";
  toolchain.kind = CompilerKind::clang;
  toolchain.origin = ToolchainOrigin::distribution;
  toolchain.rocm_version = std::string();
  toolchain.clang = toolchain.path;
  toolchain.clang_version = std::string("19.1.7");
  toolchain.device_libraries = std::string();
  toolchain.device_targets = std::vector<std::string>{};
  toolchain.hip_headers = std::string();
  return toolchain;
}

PythonEnvironment with_rocm_torch() {
  TorchInstall torch;
  torch.folder = "/home/u/venv/lib/python3.12/site-packages/torch";
  torch.version = std::string("2.9.1+rocm7.2");
  torch.flavour = TorchFlavour::rocm;
  PythonEnvironment environment;
  environment.prefix = "/home/u/venv";
  environment.version = std::string("3.12.3");
  environment.torch = std::vector<TorchInstall>{torch};
  return environment;
}

Facts machine(std::vector<Toolchain> compilers) {
  Facts facts = test::bare_metal_9070xt();
  facts.toolchains.compilers = std::move(compilers);
  facts.toolchains.torch_rocm_homes = std::vector<TorchRocmHome>{};
  facts.libraries.copies = std::vector<LibraryCopy>{};
  facts.libraries.predictions = std::vector<LoadPrediction>{};
  facts.rocm.hsa = std::vector<HsaCopy>{
      test::hsa_copy("/opt/rocm-7.2.0/lib/libhsa-runtime64.so.1", LibraryOrigin::rocm_root, "7.2.0", true, false)};
  facts.platform.memory_available = 64ULL << 30;
  facts.platform.memory_limit = 64ULL << 30;
  facts.platform.usable_cpus = 16;
  return facts;
}

Result<EnvPlan> plan_for(const Facts& facts, const EnvRequest& request = {}) {
  return plan_environment({facts, test::tables()}, request);
}

EnvPlan plan_of(const Facts& facts, const EnvRequest& request = {}) {
  Result<EnvPlan> plan = plan_for(facts, request);
  REQUIRE_MESSAGE(plan.ok(), plan.error().text);
  return *std::move(plan);
}

const EnvSetting* find(const EnvPlan& plan, std::string_view variable) {
  const auto found = std::find_if(plan.settings.begin(), plan.settings.end(),
                                  [&](const EnvSetting& setting) { return setting.variable == variable; });
  return found == plan.settings.end() ? nullptr : &*found;
}

/// "-" when the plan has no such setting.
std::string value(const EnvPlan& plan, std::string_view variable) {
  const EnvSetting* setting = find(plan, variable);
  return setting == nullptr ? "-" : setting->values.front();
}

}  // namespace

TEST_CASE("a ROCm tree outside the system gets its variables and its programs") {
  const EnvPlan plan = plan_of(machine({hipcc("/opt/rocm-7.2.0")}));
  CHECK(plan.tier == Tier::compiler_root);
  CHECK(plan.root == "/opt/rocm-7.2.0");
  CHECK(value(plan, "ROCM_PATH") == "/opt/rocm-7.2.0");
  CHECK(value(plan, "HIP_PATH") == "/opt/rocm-7.2.0");
  CHECK(value(plan, "PATH") == "/opt/rocm-7.2.0/bin");
  CHECK(value(plan, "HIP_DEVICE_LIB_PATH") == "-");
  CHECK(value(plan, "LD_LIBRARY_PATH") == "-");
  CHECK(value(plan, "HSA_OVERRIDE_GFX_VERSION") == "-");
  CHECK(value(plan, "MAX_JOBS") == "-");
}

TEST_CASE("device libraries in another place than clang expects are named") {
  Toolchain toolchain = hipcc("/opt/rocm-7.14");
  toolchain.device_libraries = std::string("/opt/rocm-7.14/lib/llvm/amdgcn/bitcode");
  CHECK(value(plan_of(machine({toolchain})), "HIP_DEVICE_LIB_PATH") == "/opt/rocm-7.14/lib/llvm/amdgcn/bitcode");
}

TEST_CASE("PATH is left alone where it leads to the compiler already, and where that would exchange a python") {
  Toolchain found = hipcc("/opt/rocm-7.2.0");
  found.on_path = true;
  CHECK(value(plan_of(machine({found})), "PATH") == "-");

  Toolchain conda = hipcc("/home/u/conda");
  conda.origin = ToolchainOrigin::conda;
  CHECK(value(plan_of(machine({conda})), "PATH") == "-");
}

TEST_CASE("the distribution's ROCm in /usr is found by everybody and gets nothing") {
  Toolchain toolchain = hipcc("/usr");
  toolchain.origin = ToolchainOrigin::distribution;
  const EnvPlan plan = plan_of(machine({toolchain}));
  CHECK(plan.tier == Tier::compiler_root);
  for (const char* variable : {"ROCM_PATH", "HIP_PATH", "PATH", "HIP_DEVICE_LIB_PATH"}) CHECK(value(plan, variable) == "-");
}

TEST_CASE("a bare clang has no root, and without a compiler programs still run") {
  const EnvPlan clang = plan_of(machine({bare_clang()}));
  CHECK(clang.tier == Tier::bare_clang);
  CHECK(clang.root.empty());
  CHECK(value(clang, "ROCM_PATH") == "-");

  const EnvPlan runtime = plan_of(machine({}));
  CHECK(runtime.tier == Tier::runtime_only);
  CHECK(runtime.notes.front().find("No compiler") == 0);
}

TEST_CASE("a machine with nothing is an error, and so is a wish that nothing fulfils") {
  Facts nothing = machine({});
  nothing.rocm.hsa = std::vector<HsaCopy>{};
  CHECK(plan_for(nothing).error().text.find("nothing usable") == 0);

  const Facts facts = machine({hipcc("/opt/rocm-7.2.0"), bare_clang()});
  EnvRequest request;
  request.wish.root = "/opt/rocm-gone";
  CHECK(plan_for(facts, request).error().text ==
        "there is no compiler in /opt/rocm-gone; found: /opt/rocm-7.2.0/bin/hipcc, /usr/lib/llvm-19/bin/clang++");
  request = {};
  request.wish.toolchain = "clang++";
  CHECK(plan_of(facts, request).tier == Tier::bare_clang);
  request = {};
  request.override_gfx = "gfx1100";
  CHECK_FALSE(plan_for(facts, request).ok());
  request.override_gfx = "12.0.1";
  CHECK(value(plan_of(facts, request), "HSA_OVERRIDE_GFX_VERSION") == "12.0.1");
  CHECK(find(plan_of(facts, request), "HSA_OVERRIDE_GFX_VERSION")->why.find("may crash") != std::string::npos);
}

TEST_CASE("a value of the user's own is kept, one that is empty, right or our own is not") {
  Facts facts = machine({hipcc("/opt/rocm-7.2.0")});
  test::set_variable(facts, "ROCM_PATH", std::string("/mine"));
  test::set_variable(facts, "HIP_PATH", std::string());
  CHECK(find(plan_of(facts), "ROCM_PATH")->kept == "/mine");
  CHECK_FALSE(find(plan_of(facts), "HIP_PATH")->kept.has_value());
  EnvRequest force;
  force.force = true;
  CHECK_FALSE(find(plan_of(facts, force), "ROCM_PATH")->kept.has_value());

  test::set_variable(facts, "SAGE_DOCTOR_ENV_SET_ROCM_PATH", std::string("/mine"));
  CHECK_FALSE(find(plan_of(facts), "ROCM_PATH")->kept.has_value());
  test::set_variable(facts, "SAGE_DOCTOR_ENV_SET_ROCM_PATH", std::nullopt);
  test::set_variable(facts, "ROCM_PATH", std::string("/opt/rocm-7.2.0"));
  CHECK_FALSE(find(plan_of(facts), "ROCM_PATH")->kept.has_value());
}

TEST_CASE("another name of the chosen root is no value against it") {
  Toolchain toolchain = hipcc("/opt/rocm-7.2.0");
  toolchain.path = "/opt/rocm/bin/hipcc";
  Facts facts = machine({toolchain});
  test::set_variable(facts, "ROCM_PATH", std::string("/opt/rocm"));
  test::set_variable(facts, "HIP_PATH", std::string("/opt/rocm-6.4.1"));
  CHECK(value(plan_of(facts), "ROCM_PATH") == "/opt/rocm");
  CHECK_FALSE(find(plan_of(facts), "ROCM_PATH")->kept.has_value());
  CHECK(find(plan_of(facts), "HIP_PATH")->kept == "/opt/rocm-6.4.1");
}

TEST_CASE("a compiler that can't build for the GPU is not taken unless it is named") {
  Toolchain old = hipcc("/opt/rocm-5.2.3");
  old.clang_version = std::string("15.0.6");
  old.origin = ToolchainOrigin::distribution;
  old.device_targets = std::vector<std::string>{"gfx90a", "gfx1030"};
  const Facts facts = machine({old, bare_clang()});
  CHECK(plan_of(facts).tier == Tier::bare_clang);
  EnvRequest request;
  request.wish.toolchain = "hipcc";
  const EnvPlan named = plan_of(facts, request);
  CHECK(named.root == "/opt/rocm-5.2.3");
  CHECK(named.notes.front().find("It builds nothing for gfx1201") == 0);
}

TEST_CASE("jobs are limited only where memory is short, by all of it and not by what is free at the moment") {
  Facts facts = machine({hipcc("/opt/rocm-7.2.0")});
  for (const auto& [gibibytes, jobs] : {std::pair(50, "-"), std::pair(49, "15"), std::pair(11, "3"), std::pair(1, "1")}) {
    CAPTURE(gibibytes);
    facts.platform.memory_limit = static_cast<std::uint64_t>(gibibytes) << 30;
    CHECK(value(plan_of(facts), "MAX_JOBS") == jobs);
  }
  facts.platform.memory_available = 1ULL << 30;
  facts.platform.memory_limit = 11ULL << 30;
  CHECK(value(plan_of(facts), "MAX_JOBS") == "3");
  facts.platform.memory_limit = Fact<std::uint64_t>::unknown("test");
  CHECK(value(plan_of(facts), "MAX_JOBS") == "-");
}

TEST_CASE("under an override code is built for the target that it names") {
  Facts facts = machine({hipcc("/opt/rocm-7.2.0")});
  facts.python.environments = std::vector<PythonEnvironment>{with_rocm_torch()};
  CHECK(value(plan_of(facts), "PYTORCH_ROCM_ARCH") == "gfx1201");
  EnvRequest request;
  request.override_gfx = "11.0.0";
  CHECK(value(plan_of(facts, request), "PYTORCH_ROCM_ARCH") == "gfx1100");

  test::set_variable(facts, "HSA_OVERRIDE_GFX_VERSION", std::string("11.0.0"));
  const EnvPlan plan = plan_of(facts);
  CHECK(value(plan, "PYTORCH_ROCM_ARCH") == "gfx1100");
  CHECK(value(plan, "HSA_OVERRIDE_GFX_VERSION") == "-");
  CHECK(plan.notes.back() == "HSA_OVERRIDE_GFX_VERSION=11.0.0 is your own and stays: code is built for gfx1100.");
  test::set_variable(facts, "HSA_OVERRIDE_GFX_VERSION", std::string("gfx1100"));
  CHECK(value(plan_of(facts), "PYTORCH_ROCM_ARCH") == "gfx1201");
}

TEST_CASE("under WSL the variable is set for the releases that want it") {
  for (const auto& [version, wanted] : {std::pair("7.2.1", "1"), std::pair("7.12.0", "1"), std::pair("7.13.0", "-"),
                                        std::pair("10.1.0", "-")}) {
    CAPTURE(version);
    Facts facts = test::wsl2_9070xt(version);
    CHECK(value(plan_of(facts), "HSA_ENABLE_DXG_DETECTION") == wanted);
  }
}

TEST_CASE("Triton is told of PyTorch's runtime only where it would take another") {
  Facts facts = machine({});
  const auto prediction = [](LoadScenario scenario, const std::string& path) {
    LoadedCopy copy;
    copy.path = path;
    copy.library = RuntimeLibrary::amdhip64;
    LoadPrediction result;
    result.scenario = scenario;
    result.copies = std::vector<LoadedCopy>{copy};
    result.missing = std::vector<std::string>{};
    return result;
  };
  LibraryCopy of_torch;
  of_torch.path = "/venv/torch/lib/libamdhip64.so";
  of_torch.library = RuntimeLibrary::amdhip64;
  of_torch.other_paths = std::vector<std::string>{"/alias/libamdhip64.so.7"};
  LibraryCopy of_system = of_torch;
  of_system.path = "/opt/rocm/lib/libamdhip64.so.7";
  of_system.other_paths = std::vector<std::string>{};
  facts.libraries.copies = std::vector<LibraryCopy>{of_torch, of_system};

  facts.libraries.predictions = std::vector<LoadPrediction>{prediction(LoadScenario::torch, of_torch.path),
                                                            prediction(LoadScenario::triton, "/alias/libamdhip64.so.7")};
  CHECK(value(plan_of(facts), "TRITON_LIBHIP_PATH") == "-");
  facts.libraries.predictions = std::vector<LoadPrediction>{prediction(LoadScenario::torch, of_torch.path),
                                                            prediction(LoadScenario::triton, of_system.path)};
  CHECK(value(plan_of(facts), "TRITON_LIBHIP_PATH") == of_torch.path);
}

TEST_CASE("system folders are known for what they are") {
  for (const char* folder : {"/", "/bin", "/usr/bin", "/usr/bin/", "/usr/local/lib", "/lib64", "/usr/lib/x86_64-linux-gnu",
                             "/usr", "/usr/sbin"}) {
    CHECK_MESSAGE(is_system_folder(folder), folder);
  }
  for (const char* folder : {"/opt/rocm/bin", "/usr/lib/llvm-19/bin", "/usr/lib/wsl/lib", "/home/u/bin", "/usr/local/cuda/bin"}) {
    CHECK_MESSAGE(!is_system_folder(folder), folder);
  }
}

TEST_CASE("a mark tells what has changed, and what can't be told") {
  Facts facts = machine({hipcc("/opt/rocm-7.2.0")});
  const std::string mark = make_mark(facts, "/opt/rocm-7.2.0", false);
  CHECK(mark.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-:,=%") == std::string::npos);
  CHECK(find_mark("# Made from: " + mark + "\n# x") == mark);
  CHECK_FALSE(find_mark("nothing").has_value());
  REQUIRE(compare_mark(mark, facts).ok());
  CHECK(compare_mark(mark, facts)->drifts.empty());

  Facts other = facts;
  other.gpus.amd.value().front().target = std::string("gfx1100");
  REQUIRE(compare_mark(mark, other)->drifts.size() == 1);
  CHECK(drift_in_words(compare_mark(mark, other)->drifts.front()) == "GPU was gfx1201 and is gfx1100");

  const std::string gone = make_mark(machine({hipcc("/opt/gone")}), "/opt/gone", false);
  REQUIRE_FALSE(compare_mark(gone, facts)->drifts.empty());
  CHECK(drift_in_words(compare_mark(gone, facts)->drifts.front()) == "ROCm root was /opt/gone and is gone");

  other = facts;
  other.gpus.amd = Fact<std::vector<Gpu>>::unknown("test");
  CHECK(compare_mark(mark, other)->drifts.empty());
  CHECK(compare_mark(mark, other)->unknown == std::vector<std::string>{"gpus.amd: test"});
  // What was not known then can't have changed.
  CHECK(compare_mark(make_mark(other, "/opt/rocm-7.2.0", false), facts)->drifts.empty());
  CHECK_FALSE(compare_mark("sage-doctor-env/2,root=/x", facts).ok());
  CHECK_FALSE(compare_mark("", facts).ok());
}

}  // namespace sage
