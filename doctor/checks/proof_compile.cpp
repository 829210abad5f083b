// Which compiler builds for which target, as they did it. That one of several does not is worth a line, no warning: the
// oldest of them never knows the newest GPU. A warning is due when none does, or when one fails whose files promise more.

#include <algorithm>
#include <utility>

#include "doctor/checks/proof_common.hpp"
#include "doctor/checks/toolchain_rows.hpp"
#include "doctor/checks/wording.hpp"
#include "doctor/toolchain/verdict.hpp"

namespace sage {
namespace {

/// The proofs of one compiler for one target.
struct Pair {
  std::string compiler;
  std::string target;
  const CompileProof* freestanding = nullptr;
  const CompileProof* with_headers = nullptr;
};

std::vector<Pair> pairs_of(const std::vector<CompileProof>& proofs) {
  std::vector<Pair> pairs;
  for (const CompileProof& proof : proofs) {
    auto pair = std::find_if(pairs.begin(), pairs.end(), [&](const Pair& other) {
      return other.compiler == proof.compiler && other.target == proof.target;
    });
    if (pair == pairs.end()) pair = pairs.insert(pair, Pair{proof.compiler, proof.target});
    if (proof.source.is(ProofSource::freestanding)) pair->freestanding = &proof;
    if (proof.source.is(ProofSource::with_headers)) pair->with_headers = &proof;
  }
  return pairs;
}

const Toolchain* toolchain_at(const Facts& facts, const std::string& path) {
  if (!facts.toolchains.compilers.known()) return nullptr;
  for (const Toolchain& toolchain : *facts.toolchains.compilers) {
    if (toolchain.path == path) return &toolchain;
  }
  return nullptr;
}

/// Why its files say that it can; nullopt where they do not, or only perhaps.
std::optional<std::string> promise_of(const CheckInput& input, const Pair& pair, BuildPurpose purpose) {
  const Toolchain* toolchain = toolchain_at(input.facts, pair.compiler);
  if (toolchain == nullptr) return std::nullopt;
  const Verdict verdict = verdict_of(*toolchain, purpose, pair.target, input.tables);
  if (verdict.can != CanBuild::yes || verdict.confidence == Confidence::possible) return std::nullopt;
  return verdict.reason;
}

std::vector<Evidence> evidence_of(const CompileProof& proof) {
  return {{proof.command.value_or(proof.compiler), end_and_words(proof.outcome, proof.message)}};
}

std::string verify_command(const std::string& target) {
  return "sage-doctor check --deep --only proof.compile --target " + target;
}

/// Variables that lead clang to other device libraries or headers than its own (facts/wheels.md 2.4, 2.8).
std::vector<const Variable*> leading_variables(const Facts& facts) {
  std::vector<const Variable*> set;
  for (const std::string_view name : {"HIP_DEVICE_LIB_PATH", "ROCM_PATH", "ROCM_HOME", "HIP_PATH"}) {
    const Variable* variable = facts.environment.find(name);
    if (variable != nullptr && variable->value.known() && variable->value->has_value()) set.push_back(variable);
  }
  return set;
}

Finding broken_promise(const CheckInput& input, const Pair& pair, const CompileProof& failed,
                       const std::string& promise, std::string subject) {
  const bool hip = failed.source.is(ProofSource::with_headers);
  Finding finding = warn("by its files " + pair.compiler + " builds " + (hip ? "HIP code" : "kernels") + " for " +
                             pair.target + ", but it does not",
                         std::move(subject));
  finding.evidence = evidence_of(failed);
  finding.evidence.push_back({pair.compiler, "expected: " + promise});
  finding.confidence = Confidence::possible;
  const std::vector<const Variable*> leading = leading_variables(input.facts);
  if (leading.empty()) {
    finding.cause = "A part of it is missing or damaged, or it finds parts of another ROCm; its words are above.";
    finding.remedies = {{"Run the command above with -v to see what it looks for, and install its package anew.", {}, {}}};
  } else {
    finding.cause = "A variable leads the compiler to parts of another ROCm than its own.";
    for (const Variable* variable : leading) {
      for (Evidence& line : variable_evidence(*variable)) finding.evidence.push_back(std::move(line));
    }
    finding.remedies = {unset_remedy(leading)};
  }
  finding.verify = verify_command(pair.target);
  return finding;
}

/// The proof that decides: of those that failed the one that asks for less.
const CompileProof* failed_proof(const Pair& pair) {
  for (const CompileProof* proof : {pair.freestanding, pair.with_headers}) {
    if (proof != nullptr && !proof->built.is(true)) return proof;
  }
  return nullptr;
}

Finding judge(const CheckInput& input, const Pair& pair) {
  const std::string subject = pair.compiler + " for " + pair.target;
  for (const CompileProof* proof : {pair.freestanding, pair.with_headers}) {
    if (proof == nullptr) continue;
    if (auto skip = skip_unless_known({{"proofs.compilations.built", &proof->built}}, subject)) return *skip;
  }
  const CompileProof* failed = failed_proof(pair);
  if (failed == nullptr) {
    const std::string what = pair.with_headers == nullptr ? "kernels" : "kernels and HIP code";
    return pass("builds " + what + " for " + pair.target, subject);
  }
  const bool only_hip = failed == pair.with_headers;
  const BuildPurpose purpose = only_hip ? BuildPurpose::hip_programs : BuildPurpose::kernels;
  if (const auto promise = promise_of(input, pair, purpose)) {
    return broken_promise(input, pair, *failed, *promise, subject);
  }
  const std::string what = only_hip && pair.freestanding != nullptr
                               ? "builds kernels without headers for " + pair.target + ", but no HIP code"
                               : "does not build for " + pair.target;
  Finding finding = info(what + " (" + end_and_words(failed->outcome, failed->message) + ")", subject);
  finding.evidence = evidence_of(*failed);
  return finding;
}

/// Whether any compiler builds kernels for the target.
Finding judge_target(const CheckInput& input, const std::string& target, const std::vector<Pair>& pairs) {
  std::size_t tried = 0;
  std::size_t good = 0;
  bool all_known = true;
  Finding finding = warn("", target);
  for (const Pair& pair : pairs) {
    if (pair.target != target || pair.freestanding == nullptr) continue;
    ++tried;
    all_known = all_known && pair.freestanding->built.known();
    if (pair.freestanding->built.is(true)) ++good;
    finding.evidence.push_back({pair.compiler, end_and_words(pair.freestanding->outcome, pair.freestanding->message)});
  }
  if (good > 0) {
    const std::string who =
        tried == 1 ? "the only compiler here" : std::to_string(good) + " of " + counted(tried, "compiler");
    return pass(who + " can build kernels for " + target, target);
  }
  if (!all_known) return make_finding(Status::skip, "unknown: not every compiler could be tried", target);

  finding.observed = tried == 1 ? "the only compiler here does not build for " + target
                                : "none of " + counted(tried, "compiler") + " builds for " + target;
  finding.cause = "They are older than the GPU, or lack a part such as lld; what each of them said is above.";
  finding.confidence = Confidence::likely;
  finding.remedies = compiler_remedies(input, target);
  finding.verify = verify_command(target);
  return finding;
}

}  // namespace

std::vector<Finding> check_proof_compile(const CheckInput& input) {
  if (auto skip = skip_unless_deep(input.facts)) return {*skip};
  const auto& proofs = input.facts.proofs.compilations;
  if (auto skip = skip_unless_known({{"proofs.compilations", &proofs}})) return {*skip};
  if (proofs->empty()) return {not_applicable("no compiler for GPU code was found")};

  const std::vector<Pair> pairs = pairs_of(*proofs);
  std::vector<Finding> findings;
  std::vector<std::string> targets;
  for (const Pair& pair : pairs) {
    if (std::find(targets.begin(), targets.end(), pair.target) == targets.end()) targets.push_back(pair.target);
  }
  for (const std::string& target : targets) findings.push_back(judge_target(input, target, pairs));
  for (const Pair& pair : pairs) findings.push_back(judge(input, pair));
  return findings;
}

}  // namespace sage
