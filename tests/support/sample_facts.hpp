#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/checks/check.hpp"

namespace sage::test {

/// A healthy bare-metal machine with one Radeon RX 9070 XT: every fact that the driver, device and environment checks
/// read is known and good.
[[nodiscard]] Facts healthy_facts();

/// A second GPU for the same machine, an integrated one, listed by KFD after the first.
[[nodiscard]] Gpu integrated_gpu();

/// The same healthy machine seen from inside a container.
[[nodiscard]] Facts in_a_container(Facts facts, ContainerKind kind);

/// `name` set to `value` in the environment; the variable is added when the list lacks it.
void set_variable(Facts& facts, std::string_view name, std::string value);

/// The findings of one row of the table, run by itself (its prerequisites are left out).
[[nodiscard]] std::vector<Finding> findings_of(std::string_view id, const Facts& facts);

/// The only finding of that row. Fails the test when there are more.
[[nodiscard]] Finding finding_of(std::string_view id, const Facts& facts);

/// All commands of all remedies, one a line.
[[nodiscard]] std::string commands_of(const Finding& finding);

}  // namespace sage::test
