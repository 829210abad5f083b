// Is there an AMD GPU, which one is it, and does what is installed know it? Facts: facts/gfx.md.
//
// "gpu.present" is where most of the other checks end up waiting: without a GPU there is one cause to tell, not ten.
// Its own prerequisites are of another topic on purpose: WSL1 has no way to a GPU at all (platform.wsl1), and under
// WSL2 only an open /dev/dxg can tell which GPUs exist (wsl.dxg-access), so a missing node must be told first.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "doctor/checks/registry.hpp"
#include "doctor/checks/visibility.hpp"
#include "doctor/checks/wording.hpp"
#include "doctor/checks/wsl_common.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

std::string pci_id_of(const Gpu& gpu) {
  if (!gpu.device_id.known()) return "unknown";
  std::string text = "1002:" + hex(*gpu.device_id, 4);
  if (gpu.revision.known()) text += " revision " + hex(*gpu.revision, 2);
  return text;
}

std::string_view source_in_words(TargetSource source) {
  switch (source) {
    case TargetSource::configured:
      return "your sage-doctor.toml";
    case TargetSource::kfd:
      return "the kernel driver (KFD)";
    case TargetSource::ip_discovery:
      return "the GPU's IP discovery table";
    case TargetSource::dxg_pci_id:
      return "the PCI id that Windows reports";
    case TargetSource::pci_id:
      return "the PCI id";
  }
  return "?";
}

// What a check of single GPUs needs before it may speak.
std::optional<Finding> skip_without_known_gpu(const Facts& facts) {
  if (gpu_behind_dxg(facts)) {
    if (auto skip = skip_without_dxg(facts)) return skip;
  }
  return skip_without_gpu(facts);
}

// One finding for each GPU, about that GPU; `judge` gets the GPU and its place in the facts ("gpus.amd[0]").
template <class Judge>
std::vector<Finding> for_each_gpu(const CheckInput& input, Judge&& judge) {
  const auto& gpus = input.facts.gpus.amd;
  if (auto skip = skip_without_known_gpu(input.facts)) return {*skip};
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < gpus->size(); ++i) {
    Finding finding = judge((*gpus)[i], "gpus.amd[" + std::to_string(i) + "]");
    if (finding.subject.empty()) finding.subject = (*gpus)[i].id;
    findings.push_back(std::move(finding));
  }
  return findings;
}

// ---- gpu.present

Finding no_gpu_gpu_behind_dxg(const Facts& facts) {
  const auto& adapters = facts.wsl.adapters;
  std::vector<std::string> names;
  for (const DxgAdapter& adapter : *adapters) names.push_back(adapter.name.value_or("an adapter without a name"));
  Finding finding = fail(names.empty() ? "Windows offers no GPU to this machine: /dev/dxg answers with an empty list"
                                       : "/dev/dxg shows no AMD GPU, only " + join(names, ", "));
  for (const DxgAdapter& adapter : *adapters) {
    finding.evidence.push_back(
        {"/dev/dxg adapter",
         adapter.name.value_or("?") + ", vendor " + (adapter.vendor_id.known() ? hex(*adapter.vendor_id, 4) : "?")});
  }
  finding.cause =
      names.empty()
          ? "The Windows display driver does not serve WSL: it is missing, too old, or the GPU is switched off in "
            "Windows."
          : "Windows has no working AMD display driver, the AMD GPU is switched off in the Device Manager, or there is "
            "none in this machine.";
  finding.confidence = Confidence::possible;
  finding.remedies = {
      update_windows_driver(),
      {"See in PowerShell which display adapters Windows knows.",
       {"Get-CimInstance Win32_VideoController | Format-List Name, Status, DriverVersion"},
       {Need::windows}},
  };
  finding.verify = "sage-doctor check --only gpu.present";
  return finding;
}

void explain_absence(const Facts& facts, Finding& finding) {
  const bool other_vendor = facts.gpus.others.known() && !facts.gpus.others->empty();
  const bool nothing_at_all = facts.gpus.others.known() && facts.gpus.others->empty();
  const std::string look = "lspci -nn | grep -E '03(00|02|80)'";

  if (facts.platform.kind.is(PlatformKind::virtual_machine)) {
    finding.cause = "This is a virtual machine and no AMD GPU is passed through to it.";
    finding.confidence = Confidence::likely;
    finding.remedies.push_back(
        {"On the host, hand the GPU to this machine (PCI passthrough with vfio-pci), or run the program on the host.",
         {},
         {Need::reboot}});
  } else if (other_vendor) {
    finding.cause =
        "The GPU of this machine is not AMD's. ROCm and this tool are for AMD GPUs; a GPU of another "
        "vendor needs that vendor's build of PyTorch.";
    finding.confidence = Confidence::likely;
    finding.remedies.push_back({"If an AMD GPU should be here, see whether the PCI bus shows it.", {look}, {}});
  } else {
    finding.cause = nothing_at_all ? "No display adapter of any vendor is on the PCI bus: the card is absent, has no "
                                     "power, is not seated, or is switched off in the firmware."
                                   : "No AMD display adapter is on the PCI bus and KFD lists none.";
    finding.confidence = nothing_at_all ? Confidence::likely : Confidence::possible;
    finding.remedies.push_back(
        {"See whether the PCI bus shows the card; if not, check seating, power and the firmware setup.", {look}, {}});
  }
  if (facts.platform.container.known() && *facts.platform.container != ContainerKind::none) {
    finding.remedies.push_back(
        {"This is a container: run the same check on the host, which shows what the container could get.", {}, {}});
  }
}

std::vector<Finding> present(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_unless_known({{"platform.kind", &facts.platform.kind}, {"gpus.amd", &facts.gpus.amd}})) {
    return {*skip};
  }
  if (facts.platform.kind.is(PlatformKind::wsl1)) return {not_applicable("WSL1 has no way to a GPU")};
  if (gpu_behind_dxg(facts)) {
    // Without an answer from /dev/dxg nothing is known, in either direction.
    const DeviceNode& dxg = facts.devices.dxg;
    if (auto skip = skip_unless_known({{"devices.dxg.present", &dxg.present},
                                       {"devices.dxg.open", &dxg.open},
                                       {"wsl.adapters", &facts.wsl.adapters}})) {
      return {*skip};
    }
    if (!*dxg.present || !dxg.open->ok()) return {not_applicable("/dev/dxg cannot be used")};
  }

  if (!facts.gpus.amd->empty()) {
    std::vector<std::string> names;
    for (const Gpu& gpu : *facts.gpus.amd) names.push_back(name_and_target(gpu));
    constexpr std::size_t shown = 4;
    std::string text = counted(names.size(), "AMD GPU") + ": ";
    const std::size_t left_out = names.size() > shown ? names.size() - shown : 0;
    if (left_out > 0) names.resize(shown);
    text += join(names, ", ") + (left_out > 0 ? " and " + std::to_string(left_out) + " more" : "");
    return {pass(std::move(text))};
  }

  if (gpu_behind_dxg(facts)) {
    for (std::size_t i = 0; i < facts.wsl.adapters->size(); ++i) {
      const std::string place = "wsl.adapters[" + std::to_string(i) + "].vendor_id";
      if (auto skip = skip_unless_known({{place, &(*facts.wsl.adapters)[i].vendor_id}})) return {*skip};
    }
    return {no_gpu_gpu_behind_dxg(facts)};
  }

  const bool others = facts.gpus.others.known() && !facts.gpus.others->empty();
  Finding finding = fail(others ? "no AMD GPU; the display adapters here are: " + join(*facts.gpus.others, ", ")
                                : "no AMD GPU: neither the PCI bus nor the kernel's KFD shows one");
  finding.evidence = {
      {"/sys/bus/pci/devices", facts.gpus.others.known()
                                   ? (others ? join(*facts.gpus.others, ", ") : "no display adapter")
                                   : "other display adapters: unknown"},
      {"/sys/class/kfd/kfd/topology",
       facts.gpus.kfd_gpu_nodes.known() ? counted(*facts.gpus.kfd_gpu_nodes, "GPU node") : "GPU nodes: unknown"},
  };
  explain_absence(facts, finding);
  finding.verify = "sage-doctor check --only gpu.present";
  return {finding};
}

// ---- gpu.identity

std::string hip_position(const Facts& facts, const Gpu& gpu) {
  const auto seen = visible_gpus(facts);
  if (!seen) return "HIP device number unknown";
  const auto& gpus = *facts.gpus.amd;
  // The order of several adapters under WSL is not established.
  if (gpu_behind_dxg(facts) && gpus.size() > 1) return "HIP device number: see rocminfo";
  const auto at = std::find_if(seen->hip.begin(), seen->hip.end(), [&](std::size_t i) { return &gpus[i] == &gpu; });
  if (at != seen->hip.end()) return "HIP device " + std::to_string(at - seen->hip.begin());
  const bool enumerated =
      std::any_of(seen->unmasked.begin(), seen->unmasked.end(), [&](std::size_t i) { return &gpus[i] == &gpu; });
  return enumerated ? "hidden by a visibility variable" : "not listed by KFD";
}

std::vector<Finding> identity(const CheckInput& input) {
  return for_each_gpu(input, [&](const Gpu& gpu, const std::string&) {
    std::vector<std::string> parts;
    if (gpu.target.known()) {
      std::string target = *gpu.target;
      if (gpu.target_source.known()) target += " by " + std::string(source_in_words(*gpu.target_source));
      parts.push_back(std::move(target));
    } else {
      parts.emplace_back("gfx target unknown");
    }
    if (gpu.kind.known()) parts.emplace_back(enum_name(*gpu.kind));
    if (gpu.vram_bytes.known()) parts.push_back(human_bytes(*gpu.vram_bytes) + " video memory");
    if (gpu.compute_units.known()) parts.push_back(std::to_string(*gpu.compute_units) + " compute units");
    parts.push_back(hip_position(input.facts, gpu));

    Finding finding = info(gpu_name(gpu) + ": " + join(parts, ", "));
    finding.evidence.push_back({"PCI id", pci_id_of(gpu)});
    if (gpu.kfd_node.known()) finding.evidence.push_back({"KFD node", std::to_string(*gpu.kfd_node)});
    if (gpu.render_node.known()) finding.evidence.push_back({"render node", *gpu.render_node});
    return finding;
  });
}

// ---- gpu.target-known

std::vector<Finding> target_known(const CheckInput& input) {
  return for_each_gpu(input, [&](const Gpu& gpu, const std::string&) {
    if (gpu.target.known()) {
      if (input.tables.target(*gpu.target) != nullptr) return pass("the gfx target is " + *gpu.target);
      return info(
          "the GPU reports " + *gpu.target +
          ", which the tables of this sage-doctor do not have: checks that compare with ROCm releases are skipped");
    }
    Finding finding =
        warn("the gfx target of the AMD GPU " + pci_id_of(gpu) + " is not known from KFD, IP discovery or the PCI id");
    finding.evidence = {
        {"PCI id", pci_id_of(gpu)},
        {"KFD", gpu.kfd_target.known() ? *gpu.kfd_target : gpu.kfd_target.why_unknown().text},
        {"IP discovery", gpu.gc_version.known() ? "GC " + *gpu.gc_version : gpu.gc_version.why_unknown().text},
        {"PCI id table", gpu.table_target.known() ? *gpu.table_target : gpu.table_target.why_unknown().text},
    };
    finding.cause = "The GPU is newer than the tables of this sage-doctor, or older than ROCm ever supported.";
    finding.confidence = Confidence::likely;
    if (input.facts.rocm.roots.known() && !input.facts.rocm.roots->empty()) {
      finding.remedies.push_back({"Ask the runtime; it prints the target even for a GPU that no table here knows.",
                                  {"rocminfo | grep gfx"},
                                  {}});
    }
    finding.remedies.push_back(
        {"Please report the PCI id and the GC version above to the sage-doctor project.", {}, {}});
    finding.verify = "sage-doctor check --only gpu.target-known";
    return finding;
  });
}

// ---- gpu.target-agreement

std::vector<Finding> target_agreement(const CheckInput& input) {
  return for_each_gpu(input, [&](const Gpu& gpu, const std::string& place) {
    struct Claim {
      std::string_view source;
      std::string_view field;
      const Fact<std::string>* target;
    };
    // The most trusted first (facts/gfx.md 2).
    const Claim claims[] = {{"KFD", "kfd_target", &gpu.kfd_target},
                            {"IP discovery", "ip_discovery_target", &gpu.ip_discovery_target},
                            {"PCI id table", "table_target", &gpu.table_target}};
    std::vector<Claim> made;
    std::string silent;
    for (const Claim& claim : claims) {
      if (claim.target->known()) {
        made.push_back(claim);
      } else if (silent.empty()) {
        silent = place + "." + std::string(claim.field) + " (" + claim.target->why_unknown().text + ")";
      }
    }
    if (made.size() < 2) return make_finding(Status::skip, "nothing to compare, unknown: " + silent);

    const bool agree = std::all_of(made.begin(), made.end(),
                                   [&](const Claim& claim) { return **claim.target == **made.front().target; });
    if (agree) {
      const std::string text = "agree on " + **made.front().target;
      return silent.empty()
                 ? pass("KFD, IP discovery and the PCI id table " + text)
                 : info(std::string(made[0].source) + " and the " + std::string(made[1].source) + " " + text);
    }

    std::vector<std::string> said;
    for (const Claim& claim : made) said.push_back(std::string(claim.source) + " says " + **claim.target);
    Finding finding = warn("the sources do not agree on the gfx target: " + join(said, ", "));
    for (const Claim& claim : made) finding.evidence.push_back({std::string(claim.source), **claim.target});
    finding.evidence.push_back({"PCI id", pci_id_of(gpu)});
    finding.cause =
        "sage-doctor goes by " + std::string(made.front().source) +
        ", which stands nearest to the hardware. HSA_OVERRIDE_GFX_VERSION is not the reason: it changes none "
        "of these. Either a table is wrong or the kernel driver takes the chip for another one.";
    finding.confidence = Confidence::possible;
    finding.remedies = {
        {"Please report the PCI id and these claims to the sage-doctor project; if KFD is the odd one "
         "out, a newer kernel may know the chip.",
         {},
         {}}};
    finding.verify = "sage-doctor check --only gpu.target-agreement";
    return finding;
  });
}

// ---- gpu.rocm-too-old

Finding rocm_for_gpu(const Gpu& gpu, const GfxTarget& target, const RocmRoot& root, std::string subject) {
  const auto version = parse_version(*root.version);
  if (!version) {
    return make_finding(Status::skip, "unknown: \"" + *root.version + "\" in " + root.path + " is no version",
                        std::move(subject));
  }
  const auto absent_in = parse_version(target.rocm_absent_in);
  const auto official = parse_version(target.rocm_first_official);
  const bool lacks = absent_in && *version <= *absent_in;
  const bool before_official = official && *version < *official;
  const std::string what = "ROCm " + *root.version + " in " + root.path;

  if (!lacks && !before_official) {
    if (!absent_in && !official) {
      return info("it is not established which ROCm release was the first for " + target.name, std::move(subject));
    }
    return pass("ROCm " + *root.version + " is new enough for " + target.name, std::move(subject));
  }

  const std::string wanted = official ? "ROCm " + target.rocm_first_official : "a newer ROCm";
  Finding finding =
      lacks ? fail(what + " has no support for " + name_and_target(gpu), std::move(subject))
            : warn(what + " is older than the first release that AMD lists for " + target.name + ", " + wanted,
                   std::move(subject));
  finding.evidence.push_back({root.path + "/.info/version", *root.version});
  if (absent_in) finding.evidence.push_back({"newest ROCm tried that lacks " + target.name, target.rocm_absent_in});
  if (official) {
    finding.evidence.push_back(
        {"first ROCm in AMD's support tables",
         target.rocm_first_official + (target.rocm_first_mark == "INF" ? " (not confirmed)" : "")});
  }
  finding.cause =
      lacks ? "The device libraries of that release do not contain this gfx target, so nothing can be compiled "
              "or run for the GPU with it."
            : "Parts of that release may not know the GPU: crashes and missing kernels are typical.";
  finding.confidence = lacks ? Confidence::certain : Confidence::possible;
  finding.remedies = {{"Install " + wanted + (official ? " or newer" : "") +
                           " by AMD's guide, or let a PyTorch ROCm wheel bring its own. HSA_OVERRIDE_GFX_VERSION does "
                           "not mend this. Guide: https://rocm.docs.amd.com/en/latest/install/rocm.html",
                       {},
                       {Need::sudo}}};
  finding.verify = "sage-doctor check --only gpu.rocm-too-old";
  return finding;
}

std::vector<Finding> rocm_too_old(const CheckInput& input) {
  const auto& gpus = input.facts.gpus.amd;
  const auto& roots = input.facts.rocm.roots;
  if (auto skip = skip_without_known_gpu(input.facts)) return {*skip};
  if (auto skip = skip_unless_known({{"rocm.roots", &roots}})) return {*skip};
  if (roots->empty()) return {not_applicable("no ROCm folder such as /opt/rocm was found")};

  std::vector<Finding> findings;
  for (std::size_t g = 0; g < gpus->size(); ++g) {
    const Gpu& gpu = (*gpus)[g];
    for (std::size_t r = 0; r < roots->size(); ++r) {
      const RocmRoot& root = (*roots)[r];
      const std::string subject = gpu.id + " with " + root.path;
      const std::string target_place = "gpus.amd[" + std::to_string(g) + "].target";
      const std::string version_place = "rocm.roots[" + std::to_string(r) + "].version";
      if (auto skip = skip_unless_known({{target_place, &gpu.target}, {version_place, &root.version}}, subject)) {
        findings.push_back(std::move(*skip));
        continue;
      }
      const GfxTarget* target = input.tables.target(*gpu.target);
      findings.push_back(target != nullptr
                             ? rocm_for_gpu(gpu, *target, root, subject)
                             : make_finding(Status::skip, "unknown: no table row for " + *gpu.target, subject));
    }
  }
  return findings;
}

// ---- gpu.integrated-visible

// ROCR_VISIBLE_DEVICES for these GPUs: by UUID when each has one, else by position before any mask. Never a number that
// was not counted on this machine (facts/bugs.md B17).
std::string mask_for(const std::vector<Gpu>& gpus, const std::vector<std::size_t>& wanted, const Visibility& seen) {
  const bool uuids = std::all_of(wanted.begin(), wanted.end(),
                                 [&](std::size_t i) { return gpus[i].uuid.known() && !gpus[i].uuid->empty(); });
  std::vector<std::string> entries;
  for (const std::size_t gpu : wanted) {
    const auto at = std::find(seen.unmasked.begin(), seen.unmasked.end(), gpu);
    entries.push_back(uuids ? *gpus[gpu].uuid : std::to_string(at - seen.unmasked.begin()));
  }
  return join(entries, ",");
}

// The other masks count the list that ROCR_VISIBLE_DEVICES leaves, so what was right before hides the wrong GPU after.
Remedy hide_from_rocm(const std::string& mask, const Environment& environment) {
  std::vector<const Variable*> others;
  bool in_use = false;
  for (const std::string_view name : {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
    const Variable* variable = environment.find(name);
    if (variable == nullptr) continue;
    others.push_back(variable);
    in_use = in_use || (variable->value.known() && variable->value->has_value()) ||
             (variable->assignments.known() && !variable->assignments->empty());
  }
  if (!in_use) {
    return {
        "Hide the integrated GPU from ROCm programs; put the line into ~/.profile to keep it.", {"export " + mask}, {}};
  }
  Remedy hide = unset_remedy(others);
  hide.text =
      "Hide the integrated GPU from ROCm programs; put the last line into ~/.profile to keep it. The variables "
      "before it must go, also from the files that set them: they would count the shorter list.";
  hide.commands.push_back("export " + mask);
  return hide;
}

std::vector<Finding> integrated_visible(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_known_gpu(facts)) return {*skip};
  const std::vector<Gpu>& gpus = *facts.gpus.amd;
  const auto seen = visible_gpus(facts);
  if (!seen) return {make_finding(Status::skip, "unknown: " + seen.error().text)};
  if (seen->unmasked.empty()) return {not_applicable("KFD shows programs no AMD GPU")};
  if (gpus.size() == 1) return {pass("there is one AMD GPU, so programs cannot pick the wrong one")};

  std::size_t integrated = 0;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const std::string place = "gpus.amd[" + std::to_string(i) + "].kind";
    if (auto skip = skip_unless_known({{place, &gpus[i].kind}})) return {*skip};
    if (gpus[i].kind.is(GpuKind::integrated)) ++integrated;
  }
  if (integrated == 0 || integrated == gpus.size()) return {pass("all AMD GPUs here are of one kind")};

  std::vector<std::size_t> discrete;
  std::vector<std::string> integrated_names;
  for (const std::size_t i : seen->hip) {
    if (gpus[i].kind.is(GpuKind::integrated)) {
      integrated_names.push_back(gpu_name(gpus[i]));
    } else {
      discrete.push_back(i);
    }
  }
  if (discrete.empty() || integrated_names.empty()) {
    return {pass("the integrated and the discrete GPU are not visible to programs at the same time")};
  }

  Finding finding = warn("programs see the integrated " + join(integrated_names, ", ") + " beside " +
                         gpu_name(gpus[discrete.front()]) + (discrete.size() > 1 ? " and others" : ""));
  for (std::size_t position = 0; position < seen->hip.size(); ++position) {
    const Gpu& gpu = gpus[seen->hip[position]];
    finding.evidence.push_back(
        {"HIP device " + std::to_string(position),
         gpu_name(gpu) + ", " + gpu.target.value_or("target unknown") + ", " + std::string(enum_name(*gpu.kind))});
  }
  for (const MaskEffect& mask : seen->masks) finding.evidence.push_back({mask.variable, mask.value});
  finding.cause =
      "PyTorch and its libraries use every GPU that they see. Most wheels carry no code for an integrated "
      "GPU, so a program that touches it stops with \"invalid device function\" or a missing kernel image.";
  finding.confidence = Confidence::likely;
  Remedy hide = hide_from_rocm("ROCR_VISIBLE_DEVICES=" + mask_for(gpus, discrete, *seen), facts.environment);
  if (gpu_behind_dxg(facts)) {
    hide.text += " Under WSL the order of the GPUs is not established: see with rocminfo that the right one is left.";
    finding.remedies = {std::move(hide),
                        {"Switch the integrated GPU off in the Device Manager of Windows, then restart WSL.",
                         {"wsl --shutdown"},
                         {Need::windows, Need::wsl_restart}}};
  } else {
    finding.remedies = {std::move(hide), {"Switch the integrated GPU off in the firmware setup.", {}, {Need::reboot}}};
  }
  finding.verify = verify_gpu_works(facts, "gpu.integrated-visible");
  return {finding};
}

// ---- gpu.doorbell

std::optional<Finding> skip_without_kfd(const Facts& facts) {
  return gpu_behind_dxg(facts) ? std::optional(not_applicable("there is no KFD under WSL")) : std::nullopt;
}

std::vector<Finding> doorbell(const CheckInput& input) {
  if (auto skip = skip_unless_known({{"platform.kind", &input.facts.platform.kind}})) return {*skip};
  if (auto skip = skip_without_kfd(input.facts)) return {*skip};
  return for_each_gpu(input, [&](const Gpu& gpu, const std::string& place) {
    const std::string fact = place + ".doorbell_type";
    if (auto skip = skip_unless_known({{fact, &gpu.doorbell_type}})) return *skip;
    constexpr std::uint32_t needed = 2;  // facts/gfx.md 3, capability bits 12-13
    if (*gpu.doorbell_type == needed) return pass("the GPU has the doorbell type that ROCm needs (2)");
    Finding finding = fail(gpu_name(gpu) + " has doorbell type " + std::to_string(*gpu.doorbell_type) +
                           "; ROCm needs type 2 and refuses the GPU");
    const std::string node = gpu.kfd_node.known() ? std::to_string(*gpu.kfd_node) : "?";
    finding.evidence = {{"/sys/class/kfd/kfd/topology/nodes/" + node + "/properties",
                         "capability: doorbell type " + std::to_string(*gpu.doorbell_type)}};
    finding.cause =
        "The GPU is of a generation before Vega, whose way of starting work ROCm has dropped "
        "(\"deprecated doorbell type\").";
    finding.confidence = Confidence::likely;
    finding.remedies = {
        {"No setting changes this: ROCm needs a newer GPU. The card still works for graphics, and for "
         "computing through Vulkan or Mesa's OpenCL.",
         {},
         {}}};
    finding.verify = verify_gpu_works(input.facts, "gpu.doorbell");
    return finding;
  });
}

}  // namespace

std::vector<Check> gpu_checks() {
  const auto row = [](std::string_view id, std::string_view title, std::vector<std::string_view> depends,
                      CheckFunction run, ScopeFunction out_of_scope = nullptr) {
    return Check{id, title, Topic::gpu, std::move(depends), run, out_of_scope};
  };
  return {
      row("gpu.present", "An AMD GPU is there", {"platform.wsl1", "wsl.dxg-access"}, present),
      row("gpu.identity", "What the GPU is", {"gpu.present"}, identity),
      row("gpu.target-known", "The gfx target is known", {"gpu.present"}, target_known),
      row("gpu.target-agreement", "The sources of the gfx target agree", {"gpu.present"}, target_agreement),
      row("gpu.rocm-too-old", "ROCm is new enough for the GPU", {"gpu.present"}, rocm_too_old),
      row("gpu.integrated-visible", "No integrated GPU in the way", {"gpu.present"}, integrated_visible),
      row("gpu.doorbell", "The GPU has the doorbells that ROCm needs", {"gpu.present"}, doorbell, skip_without_kfd),
  };
}

}  // namespace sage
