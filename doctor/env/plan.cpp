#include "doctor/env/plan.hpp"

#include <utility>
#include <vector>

#include "doctor/checks/scope.hpp"
#include "doctor/env/fingerprint.hpp"
#include "doctor/env/plan_parts.hpp"
#include "doctor/toolchain/choice.hpp"
#include "probes/base/text.hpp"
#include "probes/gfx_tables.hpp"

namespace sage {
namespace {

std::string describe(const Toolchain& toolchain) {
  std::string text = toolchain.path;
  if (!toolchain.rocm_version.value_or("").empty()) text += ", ROCm " + *toolchain.rocm_version;
  if (!toolchain.clang_version.value_or("").empty()) text += ", clang " + *toolchain.clang_version;
  return text;
}

void add_override(const CheckInput& input, const std::string& version, EnvPlan& plan) {
  std::string warning = "Asked for with --override-gfx: every GPU claims to be " +
                        target_of_override(version).value_or(version) +
                        ". Code for it may crash or compute wrongly on another GPU; what has code for the GPU itself "
                        "needs no override.";
  if (uses_dxg(input.facts.platform.kind.value_or(PlatformKind::bare_metal))) {
    warning += " On WSL it adds nothing: the Windows driver decides.";
  }
  plan.settings.push_back(set_to("HSA_OVERRIDE_GFX_VERSION", version, std::move(warning)));
}

/// What a script of ours has set in this environment is nobody's own value.
bool set_by_us(const Facts& facts, const std::string& variable, const std::string& value) {
  const Variable* note = facts.environment.find("SAGE_DOCTOR_ENV_SET_" + variable);
  return note != nullptr && note->value.is(value);
}

/// Another name of the toolchain's root: /opt/rocm, which leads to /opt/rocm-7.2.0.
bool leads_to_root(const Toolchain* toolchain, const std::string& root, const std::string& folder) {
  return toolchain != nullptr && toolchain->path.starts_with(folder + "/") &&
         toolchain->canonical.value_or("").starts_with(root + "/");
}

/// The user's own values win, unless he wants it otherwise. An empty value is nobody's wish.
void keep_own_values(const Facts& facts, const Toolchain* toolchain, EnvPlan& plan) {
  if (plan.force) return;
  for (EnvSetting& setting : plan.settings) {
    if (setting.kind != SettingKind::set) continue;
    const auto own = facts.environment.get(setting.variable);
    if (!own.known() || !own->has_value() || (*own)->empty() || **own == setting.values.front()) continue;
    if (set_by_us(facts, setting.variable, **own)) continue;
    if (setting.values.front() == plan.root && leads_to_root(toolchain, plan.root, **own)) {
      setting.values.front() = **own;
    } else {
      setting.kept = **own;
    }
  }
}

/// Why the Python that the user named is none; empty: it is one.
std::string named_python_problem(const Python& python) {
  if (!python.environments.known()) return "no Python could be looked at: " + python.environments.why_unknown().text;
  if (python.environments->empty()) return "there is no Python at the path of --python";
  const PythonEnvironment& named = python.environments->front();
  if (named.version.known()) return "";
  return "--python wants an interpreter or the folder of an environment: " + named.version.why_unknown().text;
}

void append(std::vector<EnvSetting>& all, std::vector<EnvSetting> more) {
  for (EnvSetting& setting : more) all.push_back(std::move(setting));
}

}  // namespace

Result<EnvPlan> plan_environment(const CheckInput& input, const EnvRequest& request) {
  const Facts& facts = input.facts;
  if (!request.override_gfx.empty() && !target_of_override(request.override_gfx)) {
    return Error{0, "--override-gfx wants a version such as 11.0.0, not \"" + request.override_gfx + "\""};
  }
  if (request.python_named) {
    if (const std::string problem = named_python_problem(facts.python); !problem.empty()) return Error{0, problem};
  }
  std::vector<std::string> targets = build_targets(facts);
  // Under an override the runtime looks for code of the target that it names, and for no other.
  const std::string own = request.override_gfx.empty() ? own_override(facts) : "";
  if (const auto claimed = target_of_override(own.empty() ? request.override_gfx : own)) targets = {*claimed};
  const std::string target = targets.empty() ? "" : targets.front();
  const Result<ToolchainChoice> choice = choose_toolchain(input, request.wish, target);
  if (!choice) return choice.error();
  const Toolchain* toolchain = choice->compiler;
  if (toolchain == nullptr && !has_runtime(facts)) {
    return Error{0, "nothing usable: no HIP runtime and no PyTorch for ROCm was found. " + choice->caution +
                        " (sage-doctor check says what to install)"};
  }

  EnvPlan plan;
  plan.force = request.force;
  if (toolchain != nullptr && is_compiler_root(*toolchain)) {
    plan.tier = Tier::compiler_root;
    plan.root = *toolchain->root;
    append(plan.settings, toolchain_settings(input, *toolchain, targets));
  } else if (toolchain != nullptr) {
    plan.tier = Tier::bare_clang;
    plan.notes.emplace_back(
        "It compiles kernels; what HIP programs need is not all there, so there is no root to name.");
  }
  if (!choice->caution.empty()) plan.notes.push_back(choice->caution);
  if (toolchain != nullptr) plan.description = describe(*toolchain);
  append(plan.settings, runtime_settings(facts));
  if (!request.override_gfx.empty()) add_override(input, request.override_gfx, plan);
  if (!own.empty()) {
    plan.notes.push_back("HSA_OVERRIDE_GFX_VERSION=" + own + " is your own and stays: code is built for " +
                         targets.front() + ".");
  }
  if (plan.settings.empty()) plan.notes.emplace_back("Nothing has to be set: everything is found without it.");
  keep_own_values(facts, toolchain, plan);
  // Without a toolchain the runtime's root is what the settings follow.
  const std::vector<RocmRoot> roots = facts.rocm.roots.value_or({});
  const std::string root = plan.root.empty() && !roots.empty() ? roots.front().path : plan.root;
  plan.mark = make_mark(facts, root, request.python_named);
  return plan;
}

}  // namespace sage
