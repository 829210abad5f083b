#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/checks/finding.hpp"
#include "probes/facts/facts.hpp"
#include "probes/gfx_tables.hpp"

namespace sage::test {

/// Sets or, with nullopt, unsets a variable; entries of start-up files are left as they are.
void set_variable(Facts& facts, std::string_view name, std::optional<std::string> value);
/// What start-up files say of a variable.
void set_assignments(Facts& facts, std::string_view name, std::vector<Assignment> assignments);

/// Ubuntu on bare metal with one RX 9070 XT (0000:03:00.0) and ROCm 7.2.0.
[[nodiscard]] Facts bare_metal_9070xt();
/// WSL2 with one RX 9070 XT (dxg:0) and a ROCm of this version with librocdxg in /opt/rocm; nothing is wrong.
[[nodiscard]] Facts wsl2_9070xt(const std::string& rocm_version);

[[nodiscard]] Gpu rx_9070_xt();
[[nodiscard]] Gpu raphael_integrated();
[[nodiscard]] HsaCopy hsa_copy(std::string path, LibraryOrigin origin, std::string version, bool names_rocdxg,
                               bool names_d3dkmt);

[[nodiscard]] const GfxTables& tables();

/// The findings of one check of topic gpu or wsl, whatever its prerequisites say.
[[nodiscard]] std::vector<Finding> judge(std::string_view id, const Facts& facts);
/// The same for a check that gives one finding.
[[nodiscard]] Finding verdict(std::string_view id, const Facts& facts);

/// Runs the checks of topics gpu and wsl with their prerequisites, with each known fact blanked in turn, and returns
/// "id [subject] <- fact" for each verdict that only turned into a pass because a fact went away.
[[nodiscard]] std::vector<std::string> passes_by_ignorance(const Facts& facts);

}  // namespace sage::test
