#pragma once

#include <functional>
#include <vector>

#include "probes/base/result.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// ioctl(2) on /dev/dxg: a negative number and errno, or an NTSTATUS that is not a failure.
using DxgIoctl = std::function<int(unsigned long request, void* argument)>;

/// Enumerates the adapters, asks each one, closes their handles (facts/wsl.md W8a). Error: the enumeration failed or
/// gave an impossible count. A question that an adapter does not answer leaves its fields empty.
[[nodiscard]] Result<std::vector<DxgAdapterReply>> ask_dxg_adapters(const DxgIoctl& ioctl);

/// The same on this machine's /dev/dxg. Waits for the Windows host: call it in a child.
[[nodiscard]] Result<std::vector<DxgAdapterReply>> read_dxg_adapters();

}  // namespace sage
