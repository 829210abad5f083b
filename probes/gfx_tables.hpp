#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/enum_names.hpp"
#include "probes/base/result.hpp"

namespace sage {

/// One row of gfx_targets.toml. Empty texts mean "not established".
struct GfxTarget {
  std::string name;               ///< "gfx1201"
  std::string architecture;       ///< "RDNA4"
  std::uint32_t kfd_version = 0;  ///< 120001; 0 for generic targets
  bool generic = false;
  std::string covered_by_generic;    ///< "gfx12-generic"
  std::vector<std::string> members;  ///< of a generic target
  std::uint32_t elf_machine = 0;
  bool xnack = false;
  bool sramecc = false;
  std::uint32_t wavefront_size = 0;
  std::uint32_t lds_bytes = 0;  ///< per workgroup
  std::uint32_t vgprs_per_simd = 0;
  std::uint32_t vgprs_per_wave = 0;
  std::uint32_t waves_per_simd = 0;
  std::string wmma;                 ///< matrix instruction family: "gfx11", "gfx12", "gfx1250"
  std::string mfma;                 ///< "cdna1", "cdna2", "cdna3" ...
  std::string sparse;               ///< "swmmac", "smfmac"
  std::string dot4;                 ///< "sdot4+udot4", "sudot4+udot4"
  std::string fp8;                  ///< "fnuz", "ocp"
  std::string llvm_first;           ///< first upstream LLVM, "18"; "<=14": not looked further back
  bool llvm_first_exact = true;     ///< false: the truth may be one release later
  std::string rocm_absent_in;       ///< newest ROCm whose device libraries lack the target ("6.0"): tried
  std::string rocm_first_official;  ///< first release in AMD's support matrix ("6.4.1"); mark in rocm_first_mark
  std::string rocm_first_mark;      ///< evidence mark of rocm_first_official
  std::string kernel_first;         ///< first Linux kernel that drives it ("6.11"); hint only
  std::string kernel_first_mark;
  bool torch_wheel = false;  ///< a current PyTorch wheel carries it
};

struct GpuName {
  std::string name;
  std::vector<std::uint32_t> revisions;
};

/// One row of gpus.toml.
struct GpuModel {
  std::uint32_t device_id = 0;
  std::string target;
  std::string target_mark;  ///< C, H, D are sourced; INF is inferred from the codename
  bool integrated = false;
  std::string codename;
  std::vector<GpuName> names;
};

enum class OverrideClass { safe, risky, bad };

template <>
inline constexpr auto enum_names<OverrideClass> = std::to_array<EnumName<OverrideClass>>({
    {OverrideClass::safe, "safe"},
    {OverrideClass::risky, "risky"},
    {OverrideClass::bad, "bad"},
});

/// HSA_OVERRIDE_GFX_VERSION advice for one target and value.
struct OverrideRule {
  std::string target;
  std::string value;
  OverrideClass verdict = OverrideClass::risky;
  std::string note;
};

/// The tables of probes/data, embedded in the binary, overlaid by a user's file. Read-only after loading.
class GfxTables {
 public:
  /// The embedded tables; they are parsed at the first call in a process.
  [[nodiscard]] static Result<GfxTables> embedded();

  /// Adds or replaces whole rows from a user's TOML text in the same format. Strict: an unknown key or an impossible
  /// value changes nothing and gives an Error with file, line, reason and the nearest right key.
  [[nodiscard]] std::optional<Error> overlay(std::string_view toml, const std::string& file);

  [[nodiscard]] const GfxTarget* target(std::string_view name) const;
  [[nodiscard]] const GpuModel* model(std::uint32_t device_id) const;
  /// Marketing name for device id and revision; nullopt when the table has none.
  [[nodiscard]] std::optional<std::string> marketing_name(std::uint32_t device_id,
                                                          std::optional<std::uint32_t> revision) const;
  /// True when the table knows this target only as graphics of an APU, false when only as cards; nullopt otherwise.
  [[nodiscard]] std::optional<bool> target_integrated(std::string_view target) const;
  /// "12.0.1" -> "gfx1201" through the GC IP map, which is not digit for digit.
  [[nodiscard]] std::optional<std::string> target_of_gc_version(std::string_view version) const;
  [[nodiscard]] const OverrideRule* override_rule(std::string_view target, std::string_view value) const;
  /// Device ids that librocdxg accepts without a dids.conf (facts/wsl.md 2.5; a hint, it warns).
  [[nodiscard]] bool dxg_allowed(std::uint32_t device_id) const;
  [[nodiscard]] std::vector<std::string> target_names() const;

 private:
  std::map<std::string, GfxTarget, std::less<>> targets_;
  std::map<std::uint32_t, GpuModel> models_;
  std::map<std::string, std::string, std::less<>> gc_versions_;
  std::vector<OverrideRule> overrides_;
  std::vector<std::uint32_t> dxg_allowed_;
};

/// KFD's decimal gfx_target_version as a name: 120001 -> "gfx1201", 90010 -> "gfx90a" (minor and stepping in hex,
/// facts/gfx.md 0.2). nullopt for 0 and for numbers that are no version.
[[nodiscard]] std::optional<std::string> target_of_kfd_version(std::uint64_t version);

/// "11.0.0" -> "gfx1100"; the strict form that HSA_OVERRIDE_GFX_VERSION takes (three decimal numbers, limits
/// 63/255/255, nothing after). nullopt for any other text.
[[nodiscard]] std::optional<std::string> target_of_override(std::string_view value);

}  // namespace sage
