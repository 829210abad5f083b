// HSA_OVERRIDE_GFX_VERSION makes the runtime claim another gfx target than the GPU has. It is a debugging switch, yet
// every second guide recommends it, often wrongly: as "gfx1100" instead of 11.0.0 (then no program starts), for a GPU
// that needs none, or across generations (then kernels crash). Format and effect are in facts/gfx.md 4. The per-node
// form HSA_OVERRIDE_GFX_VERSION_<n> wins over the global one for the KFD node n.

#include <algorithm>
#include <set>
#include <array>
#include <string>

#include "doctor/checks/environment_rows.hpp"
#include "doctor/checks/scope.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

constexpr std::string_view global_name = "HSA_OVERRIDE_GFX_VERSION";

// Set or not; the global one is always in the list.
std::vector<const Variable*> override_variables(const Environment& environment) {
  std::vector<const Variable*> found;
  for (const Variable& variable : environment.variables) {
    if (variable.name.rfind(global_name, 0) == 0) found.push_back(&variable);
  }
  return found;
}

// A skip when there is no GPU, or when a variable of the family is unknown.
std::optional<Finding> skip_without_overrides_known(const Facts& facts) {
  if (auto skip = skip_without_gpu(facts)) return skip;
  const auto global = facts.environment.get(global_name);
  if (auto skip = skip_unless_known({{"environment.HSA_OVERRIDE_GFX_VERSION", &global}})) return skip;
  for (const Variable* variable : override_variables(facts.environment)) {
    if (auto skip = skip_unless_known({{"environment." + variable->name, &variable->value}})) return skip;
  }
  return std::nullopt;
}

bool is_set(const Variable& variable) {
  return variable.value.known() && variable.value->has_value();
}

// Mended after ROCm 7.2 (facts/gfx.md 0.6): harmless only if every runtime found is newer.
bool every_runtime_takes_empty(const Rocm& rocm) {
  if (!rocm.hsa.known() || rocm.hsa->empty()) return false;
  return std::all_of(rocm.hsa->begin(), rocm.hsa->end(), [](const HsaCopy& copy) {
    return copy.rocm_version.known() && parse_version(*copy.rocm_version) && !version_below(*copy.rocm_version, "7.14");
  });
}

std::string major_of(std::string_view target) {
  // gfx1201 -> "12", gfx90a -> "9": the last two digits are minor and stepping.
  return target.size() > 5 ? std::string(target.substr(3, target.size() - 5)) : std::string(target);
}

// "gfx1100", "1100" or "11.0" meant as a version: what the writer probably wanted, in the right form; empty when
// unclear.
std::string intended_version(std::string_view value, const GfxTables& tables) {
  std::string name = to_lower(trim(value));
  for (const char quote : {'"', '\''}) std::erase(name, quote);
  if (target_of_override(name)) return name;
  if (target_of_override(name + ".0")) return name + ".0";
  if (name.rfind("gfx", 0) != 0) name = "gfx" + name;
  const GfxTarget* target = tables.target(name);
  if (target == nullptr || target->generic || target->kfd_version == 0) return "";
  const std::uint32_t version = target->kfd_version;
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

// A GPU for which the table calls this value safe.
const Gpu* gpu_served_by(const CheckInput& input, const std::string& version) {
  for (const Gpu& gpu : *input.facts.gpus.amd) {
    if (!gpu.target.known()) continue;
    const OverrideRule* rule = input.tables.override_rule(*gpu.target, version);
    if (rule != nullptr && rule->verdict == OverrideClass::safe) return &gpu;
  }
  return nullptr;
}

Finding judge_format(const CheckInput& input, const Variable& variable) {
  const std::string& value = **variable.value;
  if (const auto target = target_of_override(value)) {
    return pass(variable.name + "=" + value + " is well formed", variable.name);
  }
  Finding finding =
      fail(variable.name + "=\"" + value + "\" is not a version, so no ROCm program starts", variable.name);
  finding.evidence = variable_evidence(variable);
  finding.cause = "The runtime takes three decimal numbers with dots and nothing else, such as 10.3.0.";
  finding.remedies = {unset_remedy({&variable})};
  const std::string version = intended_version(value, input.tables);
  const Gpu* served = version.empty() || uses_dxg(*input.facts.platform.kind) ? nullptr : gpu_served_by(input, version);
  if (served != nullptr) {
    finding.remedies.push_back(
        {"If a program without code for " + *served->target + " needs it, this is the right form.",
         {"export " + variable.name + "=" + version},
         {}});
  }
  finding.verify = "env | grep " + std::string(global_name) + "    # nothing";
  return finding;
}

// The number by which the runtime calls a GPU: nodes are counted after those that a device control group hides are
// dropped, CPU nodes included (facts/gfx.md 0.5). nullopt while a fact for it is unknown.
std::optional<std::uint32_t> runtime_node(const Facts& facts, const Gpu& gpu) {
  if (!gpu.kfd_node.known()) return std::nullopt;
  std::uint32_t node = *gpu.kfd_node;
  for (const Gpu& other : *facts.gpus.amd) {
    if (other.id == gpu.id || other.in_kfd.is(false)) continue;
    if (!other.kfd_node.known() || !other.kfd_readable.known()) return std::nullopt;
    if (*other.kfd_node < *gpu.kfd_node && !*other.kfd_readable) --node;
  }
  return node;
}

std::string node_variable(std::uint32_t node) {
  return std::string(global_name) + "_" + std::to_string(node);
}

// The override that the runtime applies to this GPU; nullptr when none.
const Variable* override_for(const Facts& facts, const Gpu& gpu) {
  if (const auto node = runtime_node(facts, gpu)) {
    const Variable* own = facts.environment.find(node_variable(*node));
    if (own != nullptr && is_set(*own)) return own;
  }
  const Variable* global = facts.environment.find(global_name);
  return global != nullptr && is_set(*global) ? global : nullptr;
}

// The table's marks for what was read, reproduced or said by a maintainer; [U], [K] and [INF] are hints.
bool strongly_marked(std::string_view note) {
  constexpr auto marks = std::to_array<std::string_view>({"[S", "[M", "[X", "[T", "+M", "+S"});
  return std::any_of(marks.begin(), marks.end(), [&](std::string_view mark) { return contains(note, mark); });
}

bool has_discrete(const std::vector<Gpu>& gpus) {
  return std::any_of(gpus.begin(), gpus.end(), [](const Gpu& gpu) { return gpu.kind.is(GpuKind::discrete); });
}

Finding judge_claim(const CheckInput& input, const Gpu& gpu, const Variable& variable, const std::string& claimed) {
  const std::string& value = **variable.value;
  const std::string& real = *gpu.target;
  const std::string claim =
      variable.name + "=" + value + " presents " + gpu_label(gpu) + " (" + real + ") as " + claimed;
  if (claimed == real) {
    Finding finding = info(variable.name + "=" + value + " says what " + gpu_label(gpu) + " is anyway: not needed");
    finding.remedies = {unset_remedy({&variable})};
    return finding;
  }
  const OverrideRule* rule = input.tables.override_rule(real, value);
  if (rule != nullptr && rule->verdict == OverrideClass::safe) {
    Finding finding = info(claim + "; that is sound, but not needed by software with code for " + real);
    finding.evidence = {{"override table", rule->note}};
    finding.remedies = {unset_remedy({&variable})};
    return finding;
  }

  // Beside a discrete GPU the override was hardly meant for this one, and a mask serves better than any value.
  if (gpu.kind.is(GpuKind::integrated) && has_discrete(*input.facts.gpus.amd)) {
    Finding finding = info(claim + "; better hide this integrated GPU (see gpu.integrated-visible)");
    finding.evidence = variable_evidence(variable);
    return finding;
  }

  // The kernel and the discovery table tell the target as a fact; other sources are tables.
  const bool target_observed =
      gpu.target_source.is(TargetSource::kfd) || gpu.target_source.is(TargetSource::ip_discovery);
  const bool other_generation = major_of(claimed) != major_of(real);
  const bool bad = rule != nullptr && rule->verdict == OverrideClass::bad;
  const bool certain = target_observed && (other_generation || (bad && strongly_marked(rule->note)));
  Finding finding = certain ? fail(claim) : warn(claim);
  finding.evidence = variable_evidence(variable);
  finding.evidence.push_back({"GPU", gpu_label(gpu) + ": " + real});
  if (rule != nullptr) finding.evidence.push_back({"override table", rule->note});
  if (other_generation) {
    finding.cause = claimed +
                    " is another generation: its machine code means nothing to this GPU. Typical are memory access "
                    "faults at address (nil) and GPU resets.";
  } else if (input.tables.target(claimed) == nullptr) {
    finding.cause = "No known runtime has a target " + claimed + "; it then refuses the GPU.";
    finding.confidence = Confidence::likely;
  } else {
    finding.cause =
        "Code made for " + claimed + " may ask for more registers than " + real + " has, or use what it lacks.";
    finding.confidence = Confidence::possible;
  }
  finding.remedies = {unset_remedy({&variable})};
  finding.remedies.front().text.insert(0, "Use software that has code for " + real + " instead. ");
  finding.verify = "env | grep " + std::string(global_name) + "    # nothing";
  return finding;
}

Finding judge_gpu(const CheckInput& input, const Gpu& gpu) {
  const Facts& facts = input.facts;
  if (!uses_dxg(*facts.platform.kind)) {
    if (auto skip = skip_unless_known({{"gpus.amd.in_kfd", &gpu.in_kfd}})) return *skip;
    if (*gpu.in_kfd) {
      if (auto skip = skip_unless_known({{"gpus.amd.kfd_readable", &gpu.kfd_readable}})) return *skip;
      if (!*gpu.kfd_readable) return not_applicable("this GPU is hidden from this process");
    }
  }
  const Variable* variable = override_for(facts, gpu);
  if (override_variables(facts.environment).size() > 1 && !uses_dxg(*facts.platform.kind)) {
    if (auto skip = skip_unless_known({{"gpus.amd.kfd_node", &gpu.kfd_node}, {"gpus.amd.kfd_readable", &gpu.kfd_readable}})) {
      return *skip;
    }
    if (!runtime_node(facts, gpu)) {
      return make_finding(Status::skip, "unknown: gpus.amd.kfd_readable (of another GPU: it decides the node's number)");
    }
  }
  if (variable == nullptr) return pass("no override presents " + gpu_label(gpu) + " as another GPU");
  const auto claimed = target_of_override(**variable->value);
  if (!claimed) return not_applicable(variable->name + " is not a version");
  if (uses_dxg(*facts.platform.kind)) {
    Finding finding = warn(variable->name + "=" + **variable->value + " adds nothing on WSL");
    finding.evidence = variable_evidence(*variable);
    finding.cause =
        "On WSL the Windows driver decides which GPUs work (facts from AMD); the variable can only confuse.";
    finding.confidence = Confidence::likely;
    finding.remedies = {unset_remedy({variable})};
    finding.verify = "env | grep " + std::string(global_name) + "    # nothing";
    return finding;
  }
  if (auto skip = skip_unless_known({{"gpus.amd.target", &gpu.target}})) return *skip;
  return judge_claim(input, gpu, *variable, *claimed);
}

// Overrides for a node number that no GPU has.
std::vector<Finding> overrides_of_no_gpu(const Facts& facts) {
  if (uses_dxg(*facts.platform.kind)) return {};
  std::set<std::string> names = {std::string(global_name)};
  std::vector<std::string> numbers;
  for (const Gpu& gpu : *facts.gpus.amd) {
    if (gpu.kfd_readable.is(false) || gpu.in_kfd.is(false)) continue;
    const auto node = runtime_node(facts, gpu);
    if (!node) return {};
    names.insert(node_variable(*node));
    numbers.push_back(std::to_string(*node));
  }
  std::vector<Finding> findings;
  for (const Variable* variable : override_variables(facts.environment)) {
    if (!is_set(*variable) || names.contains(variable->name)) continue;
    Finding finding = warn(variable->name + " is for a node that is no GPU here", variable->name);
    finding.evidence = variable_evidence(*variable);
    finding.evidence.push_back({"GPU nodes as the runtime counts them", numbers.empty() ? "none" : join(numbers, ", ")});
    finding.cause = "The number is the node's, counted with the CPUs and without hidden GPUs; it is not HIP's index.";
    finding.confidence = Confidence::likely;
    finding.remedies = {unset_remedy({variable})};
    finding.verify = "env | grep " + std::string(global_name);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

std::vector<Finding> check_override_empty(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_overrides_known(facts)) return {*skip};
  std::vector<Finding> findings;
  for (const Variable* variable : override_variables(facts.environment)) {
    if (!is_set(*variable) || !(*variable->value)->empty()) continue;
    const bool harmless = every_runtime_takes_empty(facts.rocm) || uses_dxg(*facts.platform.kind);
    const std::string observed = variable->name + " is set, but empty";
    Finding finding = harmless ? warn(observed, variable->name) : fail(observed, variable->name);
    finding.evidence = variable_evidence(*variable);
    finding.cause =
        "Up to ROCm 7.2 the runtime takes an empty value for a wrong version: every ROCm program stops with "
        "HSA_STATUS_ERROR_OUT_OF_RESOURCES.";
    if (harmless) finding.confidence = Confidence::possible;
    finding.remedies = {unset_remedy({variable})};
    finding.verify = "env | grep " + std::string(global_name) + "    # nothing";
    findings.push_back(std::move(finding));
  }
  if (findings.empty()) findings.push_back(pass("no override is set to an empty value"));
  return findings;
}

std::vector<Finding> check_override_format(const CheckInput& input) {
  if (auto skip = skip_without_overrides_known(input.facts)) return {*skip};
  std::vector<Finding> findings;
  for (const Variable* variable : override_variables(input.facts.environment)) {
    if (is_set(*variable) && !(*variable->value)->empty()) findings.push_back(judge_format(input, *variable));
  }
  if (findings.empty()) findings.push_back(pass("no override needs reading"));
  return findings;
}

std::vector<Finding> check_override_mismatch(const CheckInput& input) {
  if (auto skip = skip_without_overrides_known(input.facts)) return {*skip};
  std::vector<Finding> findings = overrides_of_no_gpu(input.facts);
  for (const Gpu& gpu : *input.facts.gpus.amd) {
    findings.push_back(judge_gpu(input, gpu));
    findings.back().subject = gpu.id;
  }
  return findings;
}

}  // namespace sage
