#pragma once

#include <string>

#include "doctor/build/compile/compile.hpp"
#include "probes/facts/toolchains.hpp"

namespace sage {

/// Everything that compilers were told and said, for the file beside the installation.
class BuildLog {
 public:
  /// `compiler`: nullptr when objects made beforehand were taken.
  void add(const TargetResult& result, const Toolchain* compiler);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace sage
