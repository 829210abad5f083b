// Each proof is a run of sage-doctor itself (proof_child/) with arguments that say all of it, so that a capture can
// answer in its place. Which proofs are made follows from the other facts: every compiler for every target that this
// machine needs, every copy of the HIP runtime, every Python that has a PyTorch.

#include "probes/proofs.hpp"

#include <algorithm>
#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include "probes/facts/facts_json.hpp"
#include "probes/proof_child/outcome.hpp"
#include "probes/proof_child/verbs.hpp"

namespace sage {
namespace {

constexpr std::size_t most_compilers = 12;
constexpr std::size_t most_targets = 4;
constexpr std::size_t most_runtimes = 12;
constexpr std::size_t most_pythons = 4;
constexpr std::int64_t budget_seconds = 900;
constexpr std::size_t longest_answer = 256 * 1024;

/// The proof that came back, or why there is none.
template <class Proof>
Result<Proof> read_answer(const Result<ProgramOutput>& end) {
  if (!end.ok()) return end.error();
  if (end->timed_out) return Error{0, "the proof did not end in time"};
  if (end->signal != 0 || end->exit_status != 0) {
    const std::string words = last_line(end->errors);
    return Error{0, words.empty() ? "the proof ended without an answer" : words};
  }
  if (end->output.size() > longest_answer) return Error{0, "the answer of the proof is too long"};
  const auto json = nlohmann::ordered_json::parse(end->output, nullptr, false);
  if (json.is_discarded()) return Error{0, "the answer of the proof is garbled"};
  Result<Proof> proof = proof_from_json<Proof>(json);
  if (!proof) return Error{0, "the answer of the proof is garbled: " + proof.error().text};
  return proof;
}

/// Every fact of a proof that could not be made.
template <class Proof>
Proof without_answer(const Error& why) {
  Proof proof;
  Proof::fields([&](const char*, auto member) {
    using Field = std::remove_reference_t<decltype(proof.*member)>;
    if constexpr (std::derived_from<Field, FactBase>) proof.*member = Field::unknown(why);
  });
  return proof;
}

class Prover {
 public:
  Prover(const Host& host, const ProbeOptions& options) : host_(host), options_(options), start_(host.now()) {}

  template <class Proof>
  Proof prove(const ProofCall& call, const std::string& what) {
    if (host_.now() - start_ > budget_seconds) {
      return without_answer<Proof>({0, "not tried: the proofs before it took 15 minutes"});
    }
    if (options_.progress) options_.progress(what);
    const Result<Proof> answer = read_answer<Proof>(host_.run_program(call.arguments, call.deadline));
    return answer.ok() ? *answer : without_answer<Proof>(answer.error());
  }

 private:
  const Host& host_;
  const ProbeOptions& options_;
  std::int64_t start_;
};

// ---- compilers

/// The targets that matter here; empty when none is known.
std::vector<std::string> targets_of(const ProbeOptions& options, const Facts& facts) {
  if (!options.target.empty()) return {options.target};
  std::vector<std::string> targets;
  if (!facts.gpus.amd.known()) return targets;
  for (const Gpu& gpu : *facts.gpus.amd) {
    if (!gpu.target.known() || targets.size() == most_targets) continue;
    if (std::find(targets.begin(), targets.end(), *gpu.target) == targets.end()) targets.push_back(*gpu.target);
  }
  return targets;
}

/// The compilers to run, each once however many names lead to it. Not the scripts of the rocm-sdk-core wheel: they
/// start a compiler that is listed itself, and may unpack gigabytes first (facts/wheels.md 2.4).
std::vector<const Toolchain*> compilers_of(const Toolchains& toolchains) {
  std::vector<const Toolchain*> chosen;
  std::set<std::pair<std::string, CompilerKind>> seen;
  for (const Toolchain& toolchain : *toolchains.compilers) {
    if (!toolchain.kind.known() || toolchain.trampoline.is(true) || chosen.size() == most_compilers) continue;
    if (seen.emplace(toolchain.canonical.value_or(toolchain.path), *toolchain.kind).second) chosen.push_back(&toolchain);
  }
  return chosen;
}

bool speaks_of(CompilerKind kind, const std::string& target) {
  return (kind == CompilerKind::nvcc) == target.starts_with("sm_");
}

/// comgr has no HIP headers; what it does with code that needs none is what counts.
std::vector<ProofSource> sources_for(CompilerKind kind) {
  if (kind == CompilerKind::comgr) return {ProofSource::freestanding};
  return {ProofSource::freestanding, ProofSource::with_headers};
}

Fact<std::vector<CompileProof>> prove_compilers(Prover& prover, const std::vector<std::string>& targets,
                                                const Facts& facts) {
  using Proofs = Fact<std::vector<CompileProof>>;
  const auto& compilers = facts.toolchains.compilers;
  if (!compilers.known()) return Proofs::unknown(compilers.why_unknown());
  if (targets.empty()) return Proofs::unknown("no gfx target is known; name one with --target");
  std::vector<CompileProof> proofs;
  for (const Toolchain* compiler : compilers_of(facts.toolchains)) {
    for (const std::string& target : targets) {
      if (!speaks_of(*compiler->kind, target)) continue;
      for (const ProofSource source : sources_for(*compiler->kind)) {
        CompileProof proof = prover.prove<CompileProof>(
            call_for(CompileRequest{compiler->path, *compiler->kind, target, source}),
            compiler->path + " compiles for " + target + ", " + std::string(enum_name(source)));
        // What was asked, whatever the answer says.
        proof.compiler = compiler->path;
        proof.target = target;
        proof.source = source;
        proofs.push_back(std::move(proof));
      }
    }
  }
  return proofs;
}

// ---- runtimes

/// The compiler for the kernel that is run: one that was just seen to build for a GPU of this machine.
std::optional<CompilerChoice> compiler_that_works(const Facts& facts, const Fact<std::vector<CompileProof>>& proofs) {
  if (!proofs.known() || !facts.toolchains.compilers.known()) return std::nullopt;
  for (const CompileProof& proof : *proofs) {
    if (!proof.built.is(true) || !proof.source.is(ProofSource::freestanding)) continue;
    for (const Toolchain& toolchain : *facts.toolchains.compilers) {
      const bool same = toolchain.path == proof.compiler && toolchain.kind.known();
      if (same && *toolchain.kind != CompilerKind::nvcc) return CompilerChoice{toolchain.path, *toolchain.kind};
    }
  }
  return std::nullopt;
}

Fact<std::vector<RuntimeProof>> prove_runtimes(Prover& prover, const std::optional<CompilerChoice>& compiler,
                                               const Facts& facts) {
  using Proofs = Fact<std::vector<RuntimeProof>>;
  const auto& copies = facts.libraries.copies;
  if (!copies.known()) return Proofs::unknown(copies.why_unknown());
  std::vector<RuntimeProof> proofs;
  for (const LibraryCopy& copy : *copies) {
    if (!copy.library.is(RuntimeLibrary::amdhip64) || proofs.size() == most_runtimes) continue;
    RuntimeProof proof =
        prover.prove<RuntimeProof>(call_for_runtime(copy.path, compiler), copy.path + " is loaded and asked");
    proof.library = copy.path;
    proofs.push_back(std::move(proof));
  }
  return proofs;
}

// ---- Python

Fact<std::vector<PythonProof>> prove_pythons(Prover& prover, const Facts& facts) {
  using Proofs = Fact<std::vector<PythonProof>>;
  const auto& environments = facts.python.environments;
  if (!environments.known()) return Proofs::unknown(environments.why_unknown());
  std::vector<PythonProof> proofs;
  for (const PythonEnvironment& environment : *environments) {
    const bool has_torch = environment.torch.known() && !environment.torch->empty();
    if (!has_torch || !environment.interpreter_there.is(true) || proofs.size() == most_pythons) continue;
    PythonProof proof = prover.prove<PythonProof>(call_for_python(environment.executable),
                                                  environment.executable + " imports torch");
    proof.executable = environment.executable;
    proofs.push_back(std::move(proof));
  }
  return proofs;
}

Proofs not_made(const std::string& why) {
  Proofs facts;
  Proofs::fields([&](const char*, auto member) {
    using Field = std::remove_reference_t<decltype(facts.*member)>;
    facts.*member = Field::unknown(why);
  });
  return facts;
}

}  // namespace

Proofs probe_proofs(const Host& host, const ProbeOptions& options, const Facts& facts) {
  if (!options.deep) return not_made("needs --deep");
  Prover prover(host, options);
  Proofs proofs;
  proofs.compilations = prove_compilers(prover, targets_of(options, facts), facts);
  proofs.runtimes = prove_runtimes(prover, compiler_that_works(facts, proofs.compilations), facts);
  proofs.pythons = prove_pythons(prover, facts);
  return proofs;
}

}  // namespace sage
