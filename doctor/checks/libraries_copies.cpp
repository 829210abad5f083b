// Several ROCm runtimes on one machine are normal: the distribution's, /opt/rocm, one in each environment. They hurt only
// when one process gets two of them, or a part of one release with a part of another. Which it gets is predicted by the
// loader's rules (facts/wheels.md 2.9); that two in one process end in crashes and lost GPUs is known from reports, so
// these rows warn.

#include <algorithm>

#include "doctor/checks/libraries_common.hpp"
#include "doctor/checks/wording.hpp"
#include "doctor/checks/wsl_common.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

bool preloaded(const LoadedCopy& copy) {
  return copy.rule->starts_with("preloaded");
}

bool by_library_path(const LoadedCopy& copy) {
  return copy.rule->starts_with("LD_LIBRARY_PATH");
}

std::string library_name(const LoadedCopy& copy) {
  return std::string(enum_name(*copy.library));
}

/// Who gets which copy: the requests for the library of `pair`, without repeats.
void add_users(const LoadPrediction& prediction, const CopyPair& pair, Finding& finding) {
  constexpr std::size_t most = 4;
  for (const LoadedCopy* copy : {pair.first, pair.second}) {
    std::vector<std::string> users;
    for (const LoadedCopy& request : *prediction.requests) {
      if (request.path != copy->path || request.requester->empty()) continue;
      const std::string name = request.requester->substr(request.requester->rfind('/') + 1);
      if (users.size() < most && std::find(users.begin(), users.end(), name) == users.end()) users.push_back(name);
    }
    if (!users.empty()) finding.evidence.push_back({copy->path, "used by " + join(users, ", ")});
  }
}

/// How to keep the copy that came by the environment out.
std::vector<Remedy> keep_out(const Facts& facts, const LoadedCopy& copy) {
  return by_library_path(copy) ? remove_variable(facts, "LD_LIBRARY_PATH") : std::vector<Remedy>{};
}

Finding judge_pair(const CheckInput& input, const LoadPrediction& prediction) {
  if (auto skip = skip_unpredicted(prediction)) return *skip;
  const Facts& facts = input.facts;
  const auto pair = two_copies(facts, prediction);
  if (!pair) return pass(scenario_in_words(prediction) + ": one copy of each runtime library", prediction.subject);
  if (preloaded(*pair->first) || preloaded(*pair->second)) {
    return info("LD_PRELOAD brings a second " + library_name(*pair->first) + "; env.preload tells of it", prediction.subject);
  }
  Finding finding = warn(scenario_in_words(prediction) + " ends with two copies of " + library_name(*pair->first) +
                             " in one process",
                         prediction.subject);
  finding.evidence = {copy_evidence(facts, *pair->first), copy_evidence(facts, *pair->second)};
  add_users(prediction, *pair, finding);
  const bool order = prediction.scenario.is(LoadScenario::extension_then_torch);
  finding.cause = "Each copy keeps its own devices, streams and memory. What one made the other does not know, and which "
                  "of them a symbol leads to depends on the order of loading; reports tell of crashes at exit and of "
                  "GPUs that are not seen.";
  finding.confidence = Confidence::likely;
  if (order) finding.remedies.push_back({"Import torch before anything else: then the extension gets torch's copy.", {}, {}});
  for (Remedy& remedy : keep_out(facts, *pair->second)) finding.remedies.push_back(std::move(remedy));
  for (Remedy& remedy : keep_out(facts, *pair->first)) finding.remedies.push_back(std::move(remedy));
  if (prediction.scenario.is(LoadScenario::triton)) {
    finding.remedies.push_back({"Let Triton find torch's copy by itself.", {"unset TRITON_LIBHIP_PATH"}, {}});
  } else if (!order) {
    finding.remedies.push_back({"Build or install the extension anew, for the ROCm that PyTorch brings.", {}, {}});
  }
  finding.verify = libs_command(facts, prediction.subject);
  return finding;
}

/// 7.2 of 7.2.1: HIP and HSA of one release may be told with two numbers or three.
std::string first_two(const std::string& version) {
  const auto parsed = parse_version(version);
  if (!parsed || parsed->parts.empty()) return "";
  return std::to_string(parsed->parts[0]) + "." + std::to_string(parsed->parts.size() > 1 ? parsed->parts[1] : 0);
}

/// One finding a subject, a warning before a skip.
void add_once(Finding finding, std::vector<Finding>& findings) {
  const auto same = std::find_if(findings.begin(), findings.end(),
                                 [&](const Finding& other) { return other.subject == finding.subject; });
  if (same == findings.end()) {
    findings.push_back(std::move(finding));
  } else if (same->status == Status::skip) {
    *same = std::move(finding);
  }
}

}  // namespace

std::vector<Finding> check_two_runtimes(const CheckInput& input) {
  if (auto skip = skip_without_predictions(input.facts)) return {*skip};
  std::vector<Finding> findings;
  const auto predictions =
      predictions_of(input.facts, {LoadScenario::torch, LoadScenario::torch_then_extension,
                                   LoadScenario::extension_then_torch, LoadScenario::triton});
  for (const LoadPrediction* prediction : predictions) {
    // torch's own two copies are told once, under torch.
    const bool told = !findings.empty() && findings.front().status == Status::warn &&
                      !prediction->scenario.is(LoadScenario::torch);
    if (told) break;
    Finding finding = judge_pair(input, *prediction);
    const auto same = std::find_if(findings.begin(), findings.end(),
                                   [&](const Finding& other) { return other.subject == finding.subject; });
    if (same == findings.end()) {
      findings.push_back(std::move(finding));
    } else if (same->status == Status::pass) {
      *same = std::move(finding);  // the other order of loading is the worse one, or as good
    }
  }
  if (findings.empty()) return {not_applicable("no ROCm build of PyTorch")};
  return findings;
}

std::vector<Finding> check_bare_name(const CheckInput& input) {
  if (auto skip = skip_without_predictions(input.facts)) return {*skip};
  const Facts& facts = input.facts;
  const auto bare = predictions_of(facts, {LoadScenario::bare_name});
  const auto torch = predictions_of(facts, {LoadScenario::torch});
  if (bare.empty() || torch.empty()) return {not_applicable("no ROCm build of PyTorch that loads")};
  if (auto skip = skip_unpredicted(*bare.front())) return {*skip};
  if (auto skip = skip_unpredicted(*torch.front())) return {*skip};
  if (two_copies(facts, *torch.front())) return {not_applicable("torch by itself ends with two runtimes")};
  const auto pair = two_copies(facts, *bare.front());
  if (!pair) return {pass("a plain libamdhip64.so leads to PyTorch's runtime, or nowhere")};

  const std::string name = library_name(*pair->second) + ".so";
  const std::string first = release_of(facts, pair->first->path);
  const std::string second = release_of(facts, pair->second->path);
  const std::string observed = "dlopen(\"" + name + "\") after import torch loads a second " + library_name(*pair->second) +
                               ": " + pair->second->path;
  if (first == second && first.starts_with("ROCm")) return {info(observed + ", of the same " + first)};
  Finding finding = warn(observed);
  finding.evidence = {copy_evidence(facts, *pair->first), copy_evidence(facts, *pair->second)};
  finding.cause = "PyTorch's copy has the name with the number alone, so that the plain name is searched for anew. ctypes, "
                  "older Tritons and hipRTC without --offload-arch ask for it by the plain name.";
  finding.confidence = Confidence::likely;
  finding.remedies = keep_out(facts, *pair->second);
  finding.remedies.push_back({"A PyTorch and a Triton from August 2026 on look for the SDK's copy themselves. Own code "
                              "opens the path that rocm_sdk.find_libraries() gives, and hipRTC gets --offload-arch.",
                              {},
                              {}});
  finding.verify = libs_command(facts, torch.front()->subject) + " --then " + name;
  return {finding};
}

std::vector<Finding> check_older_hsa(const CheckInput& input) {
  if (auto skip = skip_without_predictions(input.facts)) return {*skip};
  const Facts& facts = input.facts;
  std::vector<Finding> findings;
  bool any = false;
  for (const LoadPrediction& prediction : *facts.libraries.predictions) {
    if (auto skip = skip_unless_known({{"libraries.predictions.requests", &prediction.requests}}, prediction.subject)) {
      add_once(std::move(*skip), findings);
      continue;
    }
    const bool model_extension = *prediction.example && !prediction.scenario.is(LoadScenario::program);
    if (model_extension) continue;
    for (const LoadedCopy& request : *prediction.requests) {
      if (!request.library.is(RuntimeLibrary::hsa_runtime64)) continue;
      const LibraryCopy* hip = copy_at(facts, *request.requester);
      const LibraryCopy* hsa = copy_at(facts, request.path);
      if (hip == nullptr || hsa == nullptr || !hip->library.is(RuntimeLibrary::amdhip64)) continue;
      any = true;
      if (auto skip = skip_unless_known({{"libraries.copies.rocm_version", &hip->rocm_version},
                                         {"libraries.copies.rocm_version", &hsa->rocm_version}},
                                        hip->path)) {
        add_once(std::move(*skip), findings);
        continue;
      }
      if (!version_below(first_two(*hsa->rocm_version), first_two(*hip->rocm_version))) continue;
      Finding finding = warn(hip->path + " of " + release_of(facts, hip->path) + " gets the older " + hsa->path + " of " +
                                 release_of(facts, hsa->path),
                             hip->path);
      finding.evidence = {copy_evidence(facts, request), {scenario_in_words(prediction), "loads both"}};
      finding.cause = "Every release calls it libhsa-runtime64.so.1, so that one which is loaded already serves all. An "
                      "older one lacks functions: \"undefined symbol ... version ROCR_1\".";
      finding.confidence = Confidence::likely;
      finding.remedies = keep_out(facts, request);
      finding.remedies.push_back({"Use one ROCm release for both: a PyTorch for the ROCm that is installed, or programs "
                                  "and extensions built for PyTorch's.",
                                  {},
                                  {}});
      finding.verify = libs_command(facts, hip->path);
      add_once(std::move(finding), findings);
    }
  }
  if (!findings.empty()) return findings;
  if (!any) return {not_applicable("no libamdhip64 of a known release gets a libhsa-runtime64")};
  return {pass("every libamdhip64 gets a libhsa-runtime64 that is as new")};
}

}  // namespace sage
