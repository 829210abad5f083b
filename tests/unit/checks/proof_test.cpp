// What the checks make of proofs.

#include <algorithm>
#include <doctest/doctest.h>

#include "doctor/checks/registry.hpp"
#include "doctor/checks/runner.hpp"
#include "probes/base/text.hpp"
#include "tests/support/sample_facts.hpp"

namespace sage::test {
namespace {

CompileProof compiled(const std::string& compiler, const std::string& target, ProofSource source, bool built,
                      const std::string& message = "") {
  CompileProof proof;
  proof.compiler = compiler;
  proof.target = target;
  proof.source = source;
  proof.built = built;
  proof.object_target = built ? target : "";
  proof.outcome = std::string(built ? "ok" : "exit status 1");
  proof.message = message;
  proof.command = compiler + " kernel.hip";
  return proof;
}

RuntimeProof runtime(const std::string& library, std::uint32_t devices) {
  RuntimeProof proof;
  proof.library = library;
  proof.loaded = true;
  proof.outcome = std::string("ok");
  proof.message = std::string();
  proof.version = std::string("7.2.26015");
  proof.devices = devices;
  proof.device_names = std::vector<std::string>(devices, "AMD Radeon RX 9070 XT (gfx1201)");
  proof.kernel_ran = Fact<bool>::unknown("no compiler builds a kernel for it");
  return proof;
}

PythonProof python() {
  PythonProof proof;
  proof.executable = "/home/u/venv/bin/python3";
  proof.imported = true;
  proof.outcome = std::string("ok");
  proof.message = std::string();
  proof.torch_version = std::string("2.9.1+rocm7.2");
  proof.hip = std::string("7.2.26015");
  proof.devices = 1;
  proof.device_names = std::vector<std::string>{"AMD Radeon RX 9070 XT (gfx1201)"};
  proof.kernel_ran = true;
  proof.mapped = std::vector<std::string>{"/home/u/venv/torch/lib/libamdhip64.so"};
  return proof;
}

Facts deep_facts() {
  Facts facts = healthy_facts();
  facts.deep = true;
  return facts;
}

Finding with_compilations(std::vector<CompileProof> proofs, const std::string& subject, Facts facts = deep_facts()) {
  facts.proofs.compilations = std::move(proofs);
  for (const Finding& finding : findings_of("proof.compile", facts)) {
    if (finding.subject == subject) return finding;
  }
  FAIL("no finding about " << subject);
  return {};
}

Finding with_runtimes(std::vector<RuntimeProof> proofs, Facts facts = deep_facts()) {
  facts.proofs.runtimes = std::move(proofs);
  return findings_of("proof.runtime", facts).front();
}

Finding with_python(PythonProof proof, Facts facts = deep_facts()) {
  facts.proofs.pythons = std::vector<PythonProof>{std::move(proof)};
  return finding_of("proof.python", facts);
}

/// Every check with its prerequisites.
std::vector<Finding> run_all(const Facts& facts) {
  const auto tables = GfxTables::embedded();
  REQUIRE(tables.ok());
  std::vector<const Check*> selected;
  for (const Check& check : all_checks()) selected.push_back(&check);
  return run_checks(all_checks(), selected, {facts, *tables});
}

constexpr auto freestanding = ProofSource::freestanding;
constexpr auto with_headers = ProofSource::with_headers;

}  // namespace

TEST_CASE("without --deep the checks of proofs say how to get them") {
  Facts facts = healthy_facts();
  facts.deep = false;
  for (const char* id : {"proof.compile", "proof.runtime", "proof.python"}) {
    const Finding finding = finding_of(id, facts);
    CHECK(finding.status == Status::skip);
    CHECK(contains(finding.observed, "--deep"));
  }
}

TEST_CASE("nothing to prove is no problem") {
  Facts facts = deep_facts();
  facts.proofs.compilations = std::vector<CompileProof>{};
  facts.proofs.runtimes = std::vector<RuntimeProof>{};
  facts.proofs.pythons = std::vector<PythonProof>{};
  for (const char* id : {"proof.compile", "proof.runtime", "proof.python"}) {
    CHECK(finding_of(id, facts).status == Status::skip);
  }
}

TEST_CASE("proof.compile passes a compiler that builds both, and tells of one that builds less") {
  const std::vector<CompileProof> proofs = {
      compiled("/usr/bin/clang++-19", "gfx1201", freestanding, true),
      compiled("/usr/bin/clang++-19", "gfx1201", with_headers, false, "cannot find ROCm device library"),
      compiled("/opt/rocm/bin/hipcc", "gfx1201", freestanding, true),
      compiled("/opt/rocm/bin/hipcc", "gfx1201", with_headers, true),
      compiled("/usr/bin/clang++-14", "gfx1201", freestanding, false, "invalid target ID 'gfx1201'"),
      compiled("/usr/bin/clang++-14", "gfx1201", with_headers, false, "invalid target ID 'gfx1201'")};
  CHECK(with_compilations(proofs, "/opt/rocm/bin/hipcc for gfx1201").status == Status::pass);
  const Finding less = with_compilations(proofs, "/usr/bin/clang++-19 for gfx1201");
  CHECK(less.status == Status::info);
  CHECK(contains(less.observed, "no HIP code"));
  CHECK(contains(less.observed, "cannot find ROCm device library"));
  const Finding none = with_compilations(proofs, "/usr/bin/clang++-14 for gfx1201");
  CHECK(none.status == Status::info);
  CHECK(contains(none.observed, "does not build for gfx1201"));
  const Finding target = with_compilations(proofs, "gfx1201");
  CHECK(target.status == Status::pass);
  CHECK(target.observed == "2 of 3 compilers can build kernels for gfx1201");
}

TEST_CASE("proof.compile warns when no compiler builds for the target") {
  const std::vector<CompileProof> proofs = {compiled("/usr/bin/hipcc", "gfx1201", freestanding, false, "invalid target ID")};
  const Finding finding = with_compilations(proofs, "gfx1201");
  CHECK(finding.status == Status::warn);
  CHECK(contains(finding.observed, "the only compiler here does not build for gfx1201"));
  CHECK(contains(commands_of(finding), "clang"));

  std::vector<CompileProof> unknown = proofs;
  unknown.push_back(compiled("/usr/bin/clang++-19", "gfx1201", freestanding, false));
  unknown.back().built = Fact<bool>::unknown("the proof did not end in time");
  CHECK(with_compilations(unknown, "gfx1201").status == Status::skip);
}

TEST_CASE("proof.compile warns of a compiler that fails although its files promise more") {
  Facts facts = deep_facts();
  Toolchain hipcc;
  hipcc.path = "/opt/rocm/bin/hipcc";
  hipcc.kind = CompilerKind::hipcc;
  hipcc.rocm_version = std::string("7.2.0");
  hipcc.clang = std::string("/opt/rocm/lib/llvm/bin/clang");
  hipcc.clang_version = std::string("22");
  hipcc.device_libraries = std::string("/opt/rocm/amdgcn/bitcode");
  hipcc.device_targets = std::vector<std::string>{"gfx1201"};
  hipcc.hip_headers = std::string("/opt/rocm/include");
  hipcc.headers = std::vector<std::string>{};
  hipcc.linker = std::string("/opt/rocm/lib/llvm/bin/ld.lld");
  hipcc.bundler = std::string("/opt/rocm/lib/llvm/bin/clang-offload-bundler");
  facts.toolchains.compilers = std::vector<Toolchain>{hipcc};
  const std::vector<CompileProof> proofs = {
      compiled(hipcc.path, "gfx1201", freestanding, true),
      compiled(hipcc.path, "gfx1201", with_headers, false, "cannot find ROCm device library")};
  const Finding damaged = with_compilations(proofs, "/opt/rocm/bin/hipcc for gfx1201", facts);
  CHECK(damaged.status == Status::warn);

  set_variable(facts, "HIP_DEVICE_LIB_PATH", "/old/bitcode");
  const Finding led = with_compilations(proofs, "/opt/rocm/bin/hipcc for gfx1201", facts);
  CHECK(contains(commands_of(led), "unset HIP_DEVICE_LIB_PATH"));
}

TEST_CASE("proof.runtime passes a copy that ran a kernel and tells of one that was only asked") {
  RuntimeProof ran = runtime("/opt/rocm/lib/libamdhip64.so.7", 1);
  ran.kernel_ran = true;
  CHECK(with_runtimes({ran}).status == Status::pass);
  CHECK(with_runtimes({runtime("/x/libamdhip64.so", 1)}).status == Status::info);
}

TEST_CASE("proof.runtime fails a copy that does not load, ends the process, answers an error or computes nonsense") {
  RuntimeProof broken = runtime("/x/libamdhip64.so", 0);
  broken.loaded = false;
  broken.outcome = std::string("could not be loaded");
  broken.message = std::string("libamd_comgr.so.3: cannot open shared object file");
  const Finding not_loaded = with_runtimes({broken});
  CHECK(not_loaded.status == Status::fail);
  CHECK(contains(not_loaded.evidence.front().value, "libamd_comgr.so.3"));

  RuntimeProof crashed = runtime("/x/libamdhip64.so", 0);
  crashed.outcome = std::string("killed by SIGABRT");
  crashed.devices = Fact<std::uint32_t>::unknown("the runtime did not get that far");
  CHECK(with_runtimes({crashed}).status == Status::fail);

  RuntimeProof wrong = runtime("/x/libamdhip64.so", 1);
  wrong.kernel_ran = false;
  wrong.message = std::string("running a kernel: the kernel gave wrong results");
  CHECK(with_runtimes({wrong}).status == Status::fail);
}

TEST_CASE("proof.runtime: no device is a failure, unless another copy sees the GPU or there is none") {
  const RuntimeProof blind = runtime("/old/libamdhip64.so.5", 0);
  const Finding alone = with_runtimes({blind});
  CHECK(alone.status == Status::fail);
  CHECK(alone.confidence == Confidence::possible);
  CHECK(with_runtimes({blind, runtime("/new/libamdhip64.so.7", 1)}).status == Status::warn);

  Facts without = deep_facts();
  without.gpus.amd = std::vector<Gpu>{};
  CHECK(with_runtimes({blind}, without).status == Status::info);
  without.gpus.amd = Fact<std::vector<Gpu>>::unknown("sysfs");
  CHECK(with_runtimes({blind}, without).status == Status::skip);
}

TEST_CASE("proof.python passes a PyTorch that computes on the GPU") {
  const Finding finding = with_python(python());
  CHECK(finding.status == Status::pass);
  CHECK(finding.observed == "PyTorch 2.9.1+rocm7.2 computes on AMD Radeon RX 9070 XT (gfx1201)");
}

TEST_CASE("proof.python fails an import that fails or hangs, with what the words usually mean") {
  PythonProof proof = python();
  proof.imported = false;
  proof.outcome = std::string("exit status 1");
  proof.message = std::string("ImportError: libamdhip64.so.6: cannot open shared object file");
  const Finding failed = with_python(proof);
  CHECK(failed.status == Status::fail);
  CHECK(failed.confidence == Confidence::likely);
  CHECK(contains(failed.evidence.front().value, "libamdhip64.so.6"));

  proof.outcome = std::string("deadline of 60 s passed");
  proof.message = std::string();
  CHECK(contains(with_python(proof).cause, "libnuma"));
}

TEST_CASE("proof.python fails a PyTorch without device, with a broken step or a wrong product") {
  PythonProof blind = python();
  blind.devices = 0;
  blind.kernel_ran = Fact<bool>::unknown("no device");
  CHECK(with_python(blind).status == Status::fail);
  blind.hip = std::string();
  CHECK(with_python(blind).status == Status::info);

  PythonProof stopped = python();
  stopped.kernel_ran = Fact<bool>::unknown("Python did not get that far");
  stopped.outcome = std::string("exit status 1");
  stopped.message = std::string("a product on the GPU: RuntimeError: HIP error: invalid device function");
  const Finding finding = with_python(stopped);
  CHECK(finding.status == Status::fail);
  CHECK(contains(finding.cause, "no code for the GPU"));

  PythonProof wrong = python();
  wrong.kernel_ran = false;
  CHECK(with_python(wrong).status == Status::fail);
}

TEST_CASE("proof.python warns of a Python that crashes after its work") {
  PythonProof proof = python();
  proof.outcome = std::string("killed by SIGSEGV");
  CHECK(with_python(proof).status == Status::warn);
}

TEST_CASE("proof.python has nothing to fail where there is no AMD GPU, but a failed import") {
  Facts facts = deep_facts();
  facts.gpus.amd = std::vector<Gpu>{};
  PythonProof proof = python();
  proof.devices = 0;
  CHECK(with_python(proof, facts).status == Status::info);
}

TEST_CASE("without a GPU it is said what was proved and what was not") {
  Facts facts = deep_facts();
  facts.gpus.amd = std::vector<Gpu>{};
  RuntimeProof broken = runtime("/opt/b/libamdhip64.so", 0);
  broken.loaded = false;
  broken.outcome = std::string("could not be loaded");
  broken.message = std::string("libnuma.so.1: cannot open shared object file");
  facts.proofs.runtimes = std::vector<RuntimeProof>{runtime("/opt/a/libamdhip64.so", 0), broken};
  PythonProof imported = python();
  imported.devices = 0;
  facts.proofs.pythons = std::vector<PythonProof>{imported};

  const std::vector<Finding> all = run_all(facts);
  const auto found = [&](std::string_view id) {
    return *std::find_if(all.begin(), all.end(), [&](const Finding& finding) { return finding.id == id; });
  };
  CHECK(found("gpu.present").status == Status::fail);
  const Finding loads = found("proof.runtime");
  CHECK(loads.status == Status::info);
  CHECK(loads.blocked_by.empty());
  CHECK(contains(loads.observed, "1 of 2 HIP runtimes"));
  CHECK(contains(loads.observed, "not proved"));
  REQUIRE(loads.evidence.size() == 2);
  CHECK(loads.evidence[0].value == "loads as HIP 7.2.26015");
  CHECK(contains(loads.evidence[1].value, "does not load: could not be loaded: libnuma"));
  const Finding imports = found("proof.python");
  CHECK(imports.status == Status::info);
  CHECK(contains(imports.observed, "1 of 1 environment"));
  CHECK(imports.evidence.front().value == "imports PyTorch 2.9.1+rocm7.2 for HIP 7.2.26015");
}

TEST_CASE("whether there is a GPU must be known to say that there is none") {
  Facts facts = deep_facts();
  facts.gpus.amd = Fact<std::vector<Gpu>>::unknown("not listed");
  facts.proofs.runtimes = std::vector<RuntimeProof>{runtime("/opt/a/libamdhip64.so", 0)};
  CHECK(with_runtimes({runtime("/opt/a/libamdhip64.so", 0)}, facts).status == Status::skip);
}

}  // namespace sage::test
