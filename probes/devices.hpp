#pragma once

#include "probes/facts/devices.hpp"
#include "probes/facts/gpus.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// The device nodes and the groups that matter to them. /dev/kfd and /dev/dxg are opened, since only that is the truth;
/// a render node only when `gpus` says that its GPU is awake, because opening one wakes a sleeping GPU. card* nodes are
/// never opened.
[[nodiscard]] Devices probe_devices(const Host& host, const Gpus& gpus);

}  // namespace sage
