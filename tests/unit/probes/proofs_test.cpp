#include "probes/proofs.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>

#include "probes/base/text.hpp"
#include "probes/proof_child/verbs.hpp"
#include "tests/support/memory_host.hpp"

namespace sage {
namespace {

/// A machine on which proofs are answered from a list; what is not on it prints nothing.
class ProofHost : public MemoryHost {
 public:
  std::map<std::string, ProgramOutput> answers;  ///< by the arguments, joined with blanks
  mutable std::vector<std::string> asked;

  Result<ProgramOutput> run_program(const std::vector<std::string>& arguments,
                                    std::chrono::milliseconds) const override {
    asked.push_back(join(arguments, " "));
    const auto answer = answers.find(asked.back());
    return answer == answers.end() ? ProgramOutput{} : answer->second;
  }

  [[nodiscard]] bool was_asked(std::string_view part) const {
    return std::any_of(asked.begin(), asked.end(), [&](const std::string& call) { return contains(call, part); });
  }
};

Toolchain toolchain(std::string path, CompilerKind kind) {
  Toolchain chain;
  chain.path = std::move(path);
  chain.canonical = chain.path;
  chain.kind = kind;
  return chain;
}

Gpu gpu(std::string target) {
  Gpu gpu;
  gpu.target = std::move(target);
  return gpu;
}

Facts machine() {
  Facts facts;
  facts.gpus.amd = std::vector<Gpu>{gpu("gfx1201")};
  facts.toolchains.compilers = std::vector<Toolchain>{toolchain("/usr/bin/hipcc", CompilerKind::hipcc)};
  facts.libraries.copies = std::vector<LibraryCopy>{};
  facts.python.environments = std::vector<PythonEnvironment>{};
  return facts;
}

ProbeOptions deep() {
  ProbeOptions options;
  options.deep = true;
  return options;
}

ProgramOutput printed(std::string text) {
  ProgramOutput output;
  output.output = std::move(text);
  return output;
}

const std::string hipcc_freestanding =
    "sage-doctor internal compile --compiler /usr/bin/hipcc --kind hipcc --target gfx1201 --source freestanding";

const std::string built_answer =
    R"({"compiler":"/usr/bin/hipcc","target":"gfx1201","source":"freestanding","built":true,"object_target":"gfx1201",)"
    R"("outcome":"ok","message":"","command":"hipcc"})";

}  // namespace

TEST_CASE("without --deep nothing is run") {
  const ProofHost host;
  const Proofs proofs = probe_proofs(host, ProbeOptions{}, machine());
  CHECK(host.asked.empty());
  CHECK(proofs.compilations.why_unknown().text == "needs --deep");
  CHECK(proofs.runtimes.why_unknown().text == "needs --deep");
  CHECK(proofs.pythons.why_unknown().text == "needs --deep");
}

TEST_CASE("each compiler is tried for each target with both sources") {
  ProofHost host;
  host.answers[hipcc_freestanding] = printed(built_answer + "\n");
  Facts facts = machine();
  facts.gpus.amd.value().push_back(gpu("gfx1030"));
  facts.gpus.amd.value().push_back(gpu("gfx1201"));
  const Proofs proofs = probe_proofs(host, deep(), facts);
  REQUIRE(proofs.compilations.known());
  CHECK(proofs.compilations->size() == 4);
  const CompileProof& first = proofs.compilations->front();
  CHECK(first.built.is(true));
  CHECK(first.object_target.is("gfx1201"));
  const CompileProof& second = (*proofs.compilations)[1];
  CHECK(second.compiler == "/usr/bin/hipcc");
  CHECK(second.source.is(ProofSource::with_headers));
  CHECK(second.built.why_unknown().text == "the answer of the proof is garbled");
}

TEST_CASE("the target that the user named is the only one") {
  const ProofHost host;
  ProbeOptions options = deep();
  options.target = "gfx90a";
  const Proofs proofs = probe_proofs(host, options, machine());
  CHECK(proofs.compilations->size() == 2);
  CHECK(proofs.compilations->front().target == "gfx90a");
}

TEST_CASE("without a target no compiler is tried") {
  const ProofHost host;
  Facts facts = machine();
  facts.gpus.amd = std::vector<Gpu>{};
  const Proofs proofs = probe_proofs(host, deep(), facts);
  CHECK(proofs.compilations.why_unknown().text == "no gfx target is known; name one with --target");
  CHECK(host.asked.empty());
}

TEST_CASE("a compiler with two names is tried once, and a script of the SDK wheel not at all") {
  const ProofHost host;
  Facts facts = machine();
  Toolchain alias = toolchain("/bin/hipcc", CompilerKind::hipcc);
  alias.canonical = std::string("/usr/bin/hipcc");
  Toolchain script = toolchain("/home/u/venv/bin/hipcc", CompilerKind::hipcc);
  script.trampoline = true;
  facts.toolchains.compilers.value().push_back(alias);
  facts.toolchains.compilers.value().push_back(script);
  CHECK(probe_proofs(host, deep(), facts).compilations->size() == 2);
  CHECK_FALSE(host.was_asked("--compiler /bin/hipcc"));
  CHECK_FALSE(host.was_asked("venv"));
}

TEST_CASE("comgr has no headers to try, and nvcc no AMD target") {
  const ProofHost host;
  Facts facts = machine();
  facts.toolchains.compilers = std::vector<Toolchain>{toolchain("/opt/rocm/lib/libamd_comgr.so.3", CompilerKind::comgr),
                                                      toolchain("/usr/local/cuda/bin/nvcc", CompilerKind::nvcc)};
  CHECK(probe_proofs(host, deep(), facts).compilations->size() == 1);
  CHECK_FALSE(host.was_asked("nvcc"));
  ProbeOptions options = deep();
  options.target = "sm_90";
  CHECK(probe_proofs(host, options, facts).compilations->size() == 2);
  CHECK(host.was_asked("nvcc"));
}

TEST_CASE("the number of compilers is limited") {
  const ProofHost host;
  Facts facts = machine();
  for (int i = 0; i < 50; ++i) {
    facts.toolchains.compilers.value().push_back(toolchain("/c/" + std::to_string(i), CompilerKind::clang));
  }
  CHECK(probe_proofs(host, deep(), facts).compilations->size() == 24);
}

TEST_CASE("an answer that is none leaves the facts unknown with the reason") {
  const auto reason_for = [](const ProgramOutput& output) {
    ProofHost host;
    host.answers[hipcc_freestanding] = output;
    return probe_proofs(host, deep(), machine()).compilations->front().built.why_unknown().text;
  };
  ProgramOutput hung;
  hung.timed_out = true;
  CHECK(reason_for(hung) == "the proof did not end in time");
  ProgramOutput failed;
  failed.exit_status = 1;
  failed.errors = "no private folder can be made in /tmp: read-only file system\n";
  CHECK(reason_for(failed) == "no private folder can be made in /tmp: read-only file system");
  CHECK(reason_for(printed("{\"built\": 3}")) == "the answer of the proof is garbled: built: expected true or false");
  CHECK(reason_for(printed(std::string(300'000, ' '))) == "the answer of the proof is too long");
}

TEST_CASE("an answer about something else does not change what was asked") {
  ProofHost host;
  host.answers[hipcc_freestanding] = printed(R"({"compiler":"/evil","target":"gfx000","built":true})");
  const CompileProof proof = probe_proofs(host, deep(), machine()).compilations->front();
  CHECK(proof.compiler == "/usr/bin/hipcc");
  CHECK(proof.target == "gfx1201");
}

TEST_CASE("every copy of the runtime is asked, with a compiler that was seen to work") {
  ProofHost host;
  host.answers[hipcc_freestanding] = printed(built_answer);
  Facts facts = machine();
  LibraryCopy hip;
  hip.path = "/opt/rocm/lib/libamdhip64.so.7";
  hip.library = RuntimeLibrary::amdhip64;
  LibraryCopy hsa;
  hsa.path = "/opt/rocm/lib/libhsa-runtime64.so.1";
  hsa.library = RuntimeLibrary::hsa_runtime64;
  facts.libraries.copies = std::vector<LibraryCopy>{hip, hsa};
  const Proofs proofs = probe_proofs(host, deep(), facts);
  REQUIRE(proofs.runtimes->size() == 1);
  CHECK(proofs.runtimes->front().library == hip.path);
  CHECK(host.asked.back() ==
        "sage-doctor internal runtime --library /opt/rocm/lib/libamdhip64.so.7 --compiler /usr/bin/hipcc --kind hipcc");

  host.answers.clear();
  static_cast<void>(probe_proofs(host, deep(), facts));
  CHECK(host.asked.back() == "sage-doctor internal runtime --library /opt/rocm/lib/libamdhip64.so.7");
}

TEST_CASE("only a Python that is there and has a PyTorch is run") {
  const ProofHost host;
  Facts facts = machine();
  PythonEnvironment environment;
  environment.executable = "/home/u/venv/bin/python3";
  environment.interpreter_there = true;
  environment.torch = std::vector<TorchInstall>{TorchInstall{}};
  PythonEnvironment without = environment;
  without.executable = "/usr/bin/python3";
  without.torch = std::vector<TorchInstall>{};
  PythonEnvironment broken = environment;
  broken.executable = "/gone/bin/python3";
  broken.interpreter_there = false;
  facts.python.environments = std::vector<PythonEnvironment>{environment, without, broken};
  const Proofs proofs = probe_proofs(host, deep(), facts);
  REQUIRE(proofs.pythons->size() == 1);
  CHECK(proofs.pythons->front().executable == environment.executable);
  CHECK(host.asked.back() == "sage-doctor internal python --executable /home/u/venv/bin/python3");
}

TEST_CASE("what is not known to be there is not proved") {
  const ProofHost host;
  Facts facts = machine();
  facts.toolchains.compilers = Fact<std::vector<Toolchain>>::unknown("no list");
  facts.libraries.copies = Fact<std::vector<LibraryCopy>>::unknown("no search");
  facts.python.environments = Fact<std::vector<PythonEnvironment>>::unknown("no Python");
  const Proofs proofs = probe_proofs(host, deep(), facts);
  CHECK(proofs.compilations.why_unknown().text == "no list");
  CHECK(proofs.runtimes.why_unknown().text == "no search");
  CHECK(proofs.pythons.why_unknown().text == "no Python");
}

TEST_CASE("what is done next is told before it is done") {
  const ProofHost host;
  ProbeOptions options = deep();
  std::vector<std::string> told;
  options.progress = [&](const std::string& what) { told.push_back(what); };
  static_cast<void>(probe_proofs(host, options, machine()));
  REQUIRE(told.size() == 2);
  CHECK(told.front() == "/usr/bin/hipcc compiles for gfx1201, freestanding");
}

}  // namespace sage
