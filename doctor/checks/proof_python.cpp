// PyTorch, imported and put to work by the environment's own Python.

#include <algorithm>
#include <string_view>

#include "doctor/checks/proof_common.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

/// What a message usually means (facts/wheels.md 2.10).
struct KnownWords {
  std::string_view words;
  std::string_view cause;
  std::string_view remedy;
};
constexpr KnownWords known_words[] = {
    {"cannot open shared object file", "A library that PyTorch was built against is not where it looks.",
     "Install PyTorch again for the ROCm that is here, or the ROCm that it names."},
    {"undefined symbol", "It got a library of another ROCm than its own.",
     "Remove ROCm's folders from LD_LIBRARY_PATH and LD_PRELOAD, and see which copy it gets with sage-doctor libs."},
    {"invalid device function", "This PyTorch has no code for the GPU's target.",
     "Install a build that lists the GPU's target."},
    {"no kernel image", "This PyTorch has no code for the GPU's target.", "Install a build that lists the GPU's target."},
    {"deadline of", "The import waits for something: builds of ROCm 7.1 and 7.2 from May to July 2026 hang where "
                    "/dev/kfd or libnuma.so is missing (pytorch/pytorch#189110).",
     "Install the system's libnuma with its development package, or another build of PyTorch."},
};

Finding failure(Finding finding, const PythonProof& proof, std::string_view otherwise) {
  const std::string said = end_and_words(proof.outcome, proof.message);
  finding.evidence = {{proof.executable + " -c 'import torch; ...'", said.empty() ? "no words" : said}};
  if (proof.mapped.known()) {
    for (const std::string& library : *proof.mapped) finding.evidence.push_back({"mapped", library});
  }
  finding.cause = otherwise;
  finding.confidence = Confidence::possible;
  for (const KnownWords& known : known_words) {
    if (!contains(said, known.words)) continue;
    finding.cause = known.cause;
    finding.confidence = Confidence::likely;
    finding.remedies = {{std::string(known.remedy), {}, {}}};
    break;
  }
  if (finding.remedies.empty()) {
    finding.remedies = {{"Run it by hand and read the whole message.",
                         {shell_word(proof.executable) + " -c 'import torch; print(torch.cuda.device_count())'"},
                         {}}};
  }
  finding.verify = "sage-doctor check --deep --only proof.python";
  return finding;
}

std::string torch_name(const PythonProof& proof) {
  return proof.torch_version.known() ? "PyTorch " + *proof.torch_version : std::string("PyTorch");
}

Finding judge_devices(const CheckInput& input, const PythonProof& proof) {
  const std::string& subject = proof.executable;
  if (auto skip = skip_unless_known({{"gpus.amd", &input.facts.gpus.amd}}, subject)) return *skip;
  if (!has_amd_gpu(input.facts)) return info(torch_name(proof) + " imports; there is no AMD GPU for it", subject);
  if (proof.hip.is("")) return info(torch_name(proof) + " imports; it is no ROCm build", subject);
  return failure(fail(torch_name(proof) + " sees no GPU, though the kernel has one", subject), proof,
                 "Not established. Usual reasons: its HIP runtime is older than the GPU or does not fit the kernel driver, "
                 "or the device nodes do not open.");
}

Finding judge(const CheckInput& input, const PythonProof& proof) {
  const std::string& subject = proof.executable;
  if (auto skip = skip_unless_known({{"proofs.pythons.imported", &proof.imported},
                                     {"proofs.pythons.outcome", &proof.outcome},
                                     {"proofs.pythons.message", &proof.message}},
                                    subject)) {
    return *skip;
  }
  if (!*proof.imported) {
    return failure(fail("import torch fails in " + proof.executable, subject), proof,
                   "The message above is all that is known.");
  }
  if (proof.devices.is(0)) return judge_devices(input, proof);
  if (proof.kernel_ran.is(false)) {
    return failure(fail(torch_name(proof) + " computes a wrong product on the GPU", subject), proof,
                   "Driver, firmware or libraries do not fit together, or an override makes the GPU run foreign code.");
  }
  if (!proof.kernel_ran.known() && !proof.message->empty()) {
    return failure(fail(torch_name(proof) + " imports, but does not work on the GPU", subject), proof,
                   "The message above is all that is known.");
  }
  if (auto skip = skip_unless_known({{"proofs.pythons.devices", &proof.devices},
                                     {"proofs.pythons.kernel_ran", &proof.kernel_ran}},
                                    subject)) {
    return *skip;
  }
  if (!proof.outcome.is("ok")) {
    return failure(warn(torch_name(proof) + " computes on the GPU, but Python does not end well", subject), proof,
                   "Two copies of a ROCm library in one process are the usual reason for a crash at the end.");
  }
  const std::string names = proof.device_names.known() ? join(*proof.device_names, ", ") : "the GPU";
  return pass(torch_name(proof) + " computes on " + names, subject);
}

std::string import_in_words(const PythonProof& proof) {
  if (proof.imported.is(true)) {
    const std::string hip = proof.hip.value_or("");
    return "imports " + torch_name(proof) + (hip.empty() ? ", which is no ROCm build" : " for HIP " + hip);
  }
  if (!proof.imported.known()) return "not tried: " + proof.imported.why_unknown().text;
  return "import torch fails: " + end_and_words(proof.outcome, proof.message);
}

}  // namespace

std::optional<Finding> pythons_without_gpu(const Facts& facts) {
  const auto& proofs = facts.proofs.pythons;
  if (!deep_without_gpu(facts) || !proofs.known() || proofs->empty()) return std::nullopt;
  const auto imported =
      std::count_if(proofs->begin(), proofs->end(), [](const PythonProof& proof) { return proof.imported.is(true); });
  Finding finding = info("PyTorch can be imported in " + std::to_string(imported) + " of " +
                         counted(proofs->size(), "environment") +
                         "; that it computes on a GPU is not proved: there is no AMD GPU");
  for (const PythonProof& proof : *proofs) finding.evidence.push_back({proof.executable, import_in_words(proof)});
  return finding;
}

std::vector<Finding> check_proof_python(const CheckInput& input) {
  if (auto skip = skip_unless_deep(input.facts)) return {*skip};
  const auto& proofs = input.facts.proofs.pythons;
  if (auto skip = skip_unless_known({{"proofs.pythons", &proofs}})) return {*skip};
  if (proofs->empty()) return {not_applicable("no Python with a PyTorch was found")};
  std::vector<Finding> findings;
  for (const PythonProof& proof : *proofs) findings.push_back(judge(input, proof));
  return findings;
}

}  // namespace sage
