// Each copy of libamdhip64, loaded and asked.

#include <algorithm>

#include "doctor/checks/proof_common.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

std::string runtime_name(const RuntimeProof& proof) {
  return proof.version.known() ? "HIP " + *proof.version + " in " + proof.library : proof.library;
}

bool sees_devices(const RuntimeProof& proof) { return proof.devices.known() && *proof.devices > 0; }

Finding failure(Finding finding, const RuntimeProof& proof, std::string cause, std::vector<Remedy> remedies) {
  const std::string words = end_and_words(proof.outcome, proof.message);
  finding.evidence = {{proof.library, words.empty() ? "no words" : words}};
  finding.cause = std::move(cause);
  finding.confidence = Confidence::possible;
  finding.remedies = std::move(remedies);
  finding.verify = "sage-doctor check --deep --only proof.runtime";
  return finding;
}

Finding not_loaded(const RuntimeProof& proof) {
  Finding finding = proof.outcome.is("could not be loaded")
                        ? fail(proof.library + " can't be loaded", proof.library)
                        : fail(proof.library + " ends the process that loads it", proof.library);
  return failure(std::move(finding), proof,
                 "A library that it needs is missing or belongs to another ROCm, or the file is damaged.",
                 {{"Install the package or wheel that brought it anew. See which libraries it gets, and from where:",
                   {"sage-doctor libs " + shell_word(proof.library)},
                   {}}});
}

Finding ended_badly(const RuntimeProof& proof) {
  return failure(fail(runtime_name(proof) + " fails when it is asked for devices", proof.library), proof,
                 "This copy may be older than the GPU or the kernel driver, or get libraries of another ROCm.",
                 {{"See which libraries it gets, and from where; then use a copy that fits the GPU.",
                   {"sage-doctor libs " + shell_word(proof.library)},
                   {}}});
}

/// One copy may be older than the GPU: it is a failure only when no other copy sees it.
Finding sees_none(const RuntimeProof& proof, bool another_sees) {
  const std::string observed = runtime_name(proof) + " sees no GPU, though the kernel has one";
  Finding finding = another_sees ? warn(observed, proof.library) : fail(observed, proof.library);
  if (another_sees) {
    return failure(std::move(finding), proof,
                   "Another copy sees the GPU, so this one is too old for it or can't talk to this driver.",
                   {{"Make sure that programs get the other copy: sage-doctor libs FILE shows which one they get.", {}, {}}});
  }
  return failure(std::move(finding), proof,
                 "Not established. Usual reasons: the copy is older than the GPU; it does not fit the kernel driver; the "
                 "device nodes do not open.",
                 {{"Mend other failures first. Then see what the runtime itself says:",
                   {"AMD_LOG_LEVEL=4 rocminfo"},
                   {}}});
}

Finding judge(const CheckInput& input, const RuntimeProof& proof, bool another_sees) {
  if (auto skip = skip_unless_known({{"proofs.runtimes.loaded", &proof.loaded}, {"proofs.runtimes.outcome", &proof.outcome}},
                                    proof.library)) {
    return *skip;
  }
  if (!*proof.loaded) return not_loaded(proof);
  if (proof.kernel_ran.is(false)) {
    return failure(fail(runtime_name(proof) + " does not run a kernel on the GPU", proof.library), proof,
                   "The GPU is seen, but work for it fails: driver, firmware or runtime do not fit together.",
                   {{"Look for messages of amdgpu in the kernel's log.", {"sudo dmesg | grep -i amdgpu | tail"}, {Need::sudo}}});
  }
  if (!proof.outcome.is("ok")) return ended_badly(proof);
  if (auto skip = skip_unless_known({{"proofs.runtimes.devices", &proof.devices}, {"gpus.amd", &input.facts.gpus.amd}},
                                    proof.library)) {
    return *skip;
  }
  if (*proof.devices == 0) {
    if (has_amd_gpu(input.facts)) return sees_none(proof, another_sees);
    return info(runtime_name(proof) + " loads; there is no AMD GPU for it", proof.library);
  }
  const std::string names = proof.device_names.known() ? join(*proof.device_names, ", ") : "";
  const std::string seen = runtime_name(proof) + " sees " + (names.empty() ? counted(*proof.devices, "GPU") : names);
  if (proof.kernel_ran.is(true)) return pass(seen + " and runs a kernel on it", proof.library);
  return info(seen + "; no kernel was run: " + proof.kernel_ran.why_unknown().text, proof.library);
}

std::string load_in_words(const RuntimeProof& proof) {
  if (proof.loaded.is(true) && proof.outcome.is("ok")) return "loads as HIP " + proof.version.value_or("of unknown version");
  const std::string words = end_and_words(proof.outcome, proof.message);
  if (!proof.loaded.known()) return "not tried: " + proof.loaded.why_unknown().text;
  return (*proof.loaded ? "loads, then: " : "does not load: ") + words;
}

}  // namespace

std::optional<Finding> runtimes_without_gpu(const Facts& facts) {
  const auto& proofs = facts.proofs.runtimes;
  if (!deep_without_gpu(facts) || !proofs.known() || proofs->empty()) return std::nullopt;
  const auto loaded = std::count_if(proofs->begin(), proofs->end(), [](const RuntimeProof& proof) {
    return proof.loaded.is(true) && proof.outcome.is("ok");
  });
  Finding finding = info(std::to_string(loaded) + " of " + counted(proofs->size(), "HIP runtime") +
                         " can be loaded and asked; that it drives a GPU is not proved: there is no AMD GPU");
  for (const RuntimeProof& proof : *proofs) finding.evidence.push_back({proof.library, load_in_words(proof)});
  return finding;
}

std::vector<Finding> check_proof_runtime(const CheckInput& input) {
  if (auto skip = skip_unless_deep(input.facts)) return {*skip};
  const auto& proofs = input.facts.proofs.runtimes;
  if (auto skip = skip_unless_known({{"proofs.runtimes", &proofs}})) return {*skip};
  if (proofs->empty()) return {not_applicable("no libamdhip64 was found")};
  const bool one_sees = std::any_of(proofs->begin(), proofs->end(), sees_devices);
  std::vector<Finding> findings;
  for (const RuntimeProof& proof : *proofs) findings.push_back(judge(input, proof, one_sees));
  return findings;
}

}  // namespace sage
