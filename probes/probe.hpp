#pragma once

#include <functional>
#include <string>
#include <vector>

#include "probes/facts/facts.hpp"
#include "probes/gfx_tables.hpp"
#include "probes/host/host.hpp"

namespace sage {

struct ProbeOptions {
  bool deep = false;                       ///< may run programs and touch /mnt/c
  std::vector<std::string> search_folders; ///< further places to look for ROCm, from the configuration
  std::string target;                      ///< gfx target that the user configured; empty: none
  std::string python;                      ///< interpreter or environment that the user named; empty: none
  std::string kernel_source_sha256;        ///< of the kernels' source in this program; empty: not to be compared
  std::function<void(const std::string&)> progress;  ///< told what is done next when it may take seconds; may be empty
};

/// Runs every probe. Never fails: what can't be established is unknown in the result, with the reason.
[[nodiscard]] Facts collect_facts(const Host& host, const GfxTables& tables, const ProbeOptions& options);

}  // namespace sage
