#pragma once

#include <string>
#include <vector>

#include "doctor/toolchain/choice.hpp"
#include "probes/base/redaction.hpp"

namespace sage {

/// One compiler of the list with what it can build.
struct ToolchainRow {
  const Toolchain* compiler = nullptr;  ///< into facts
  Verdict kernels;
  Verdict hip_programs;
  Verdict extensions;
  bool chosen_for_kernels = false;
  bool chosen_for_extensions = false;
};

/// What `sage-doctor toolchains` tells.
struct ToolchainList {
  std::string target;         ///< empty: there is no GPU and none was asked for
  std::string target_source;  ///< "--target", "this machine's GPU", or why there is none
  std::string unknown;        ///< why the compilers are unknown; empty: they are known
  std::vector<ToolchainRow> rows;                  ///< the best for kernels first
  std::vector<const TorchRocmHome*> rocm_homes;    ///< into facts
  std::vector<const TritonInstall*> tritons;       ///< into facts; they compile for themselves alone
};

/// `target`: what the user asked for; empty: the machine's. `facts` must outlive the list.
[[nodiscard]] ToolchainList make_toolchain_list(const Facts& facts, const GfxTables& tables, const std::string& target);

/// For people, in `width` columns.
[[nodiscard]] std::string toolchain_text(const ToolchainList& list, std::size_t width);

/// As JSON with a line end. Facts that are unknown are null.
[[nodiscard]] std::string toolchain_json(const ToolchainList& list, Redaction redaction);

}  // namespace sage
