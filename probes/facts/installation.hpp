#pragma once

#include <string>
#include <vector>

#include "probes/base/fact.hpp"

namespace sage {

/// The kernels that `sage-doctor build` has installed for this user, as their manifest tells.
struct Installation {
  Fact<std::string> prefix;   ///< folder of installations; empty: neither XDG_DATA_HOME nor a home folder names one
  Fact<bool> present;         ///< <prefix>/current is there, wherever it leads
  Fact<std::string> version;  ///< name of the version's folder
  Fact<std::string> defect;   ///< why the manifest says nothing; empty: it can be read
  Fact<std::string> tool_version;  ///< of the sage-doctor that built them
  Fact<std::string> mark;          ///< the facts that they were built from (doctor/env/fingerprint)
  Fact<std::string> source_sha256;
  Fact<std::string> program_source_sha256;       ///< of the kernels' source in this program; empty: not compared
  Fact<std::vector<std::string>> targets;        ///< "gfx1201"
  Fact<std::vector<std::string>> missing_files;  ///< listed by the manifest and not there: "kernels/x.hsaco"

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("prefix", &Installation::prefix);
    visit("present", &Installation::present);
    visit("version", &Installation::version);
    visit("defect", &Installation::defect);
    visit("tool_version", &Installation::tool_version);
    visit("mark", &Installation::mark);
    visit("source_sha256", &Installation::source_sha256);
    visit("program_source_sha256", &Installation::program_source_sha256);
    visit("targets", &Installation::targets);
    visit("missing_files", &Installation::missing_files);
  }
};

}  // namespace sage
