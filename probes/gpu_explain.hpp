#pragma once

#include <type_traits>

#include "probes/facts/gpus.hpp"

namespace sage {

/// Makes the given facts of a GPU unknown for one reason.
template <class... Members>
void explain(Gpu& gpu, const Error& why, Members... members) {
  ((gpu.*members = std::decay_t<decltype(gpu.*members)>::unknown(why)), ...);
}

/// The same for all that only a KFD node tells.
inline void explain_kfd(Gpu& gpu, const Error& why) {
  explain(gpu, why, &Gpu::kfd_target, &Gpu::kfd_node, &Gpu::kfd_index, &Gpu::kfd_readable, &Gpu::compute_units,
          &Gpu::wavefront_size, &Gpu::lds_kib, &Gpu::max_clock_mhz, &Gpu::xcc_count, &Gpu::doorbell_type,
          &Gpu::sram_ecc, &Gpu::uuid);
}

/// The same for all that only a PCI device tells.
inline void explain_pci(Gpu& gpu, const Error& why) {
  explain(gpu, why, &Gpu::revision, &Gpu::driver, &Gpu::runtime_status, &Gpu::gc_version, &Gpu::ip_discovery_target);
}

}  // namespace sage
