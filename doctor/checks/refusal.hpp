#pragma once

#include "doctor/checks/check.hpp"

namespace sage {

/// Fills cause, remedies and verify of a finding about a device node that answered `refused` to open(2) or access(2).
/// The errno decides, owner, mode and groups explain (facts/bugs.md, "Same text, different cause"): EACCES is a matter
/// of groups, EPERM of a device cgroup, ENXIO and ENODEV of the driver. Never advises chmod.
void explain_refusal(const Facts& facts, const DeviceNode& node, Errno refused, Finding& finding);

/// How to pass /dev/kfd and /dev/dri into the kind of container that this is; both ways when the kind is unknown.
[[nodiscard]] std::vector<Remedy> pass_devices_remedies(const Facts& facts);

}  // namespace sage
