#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/result.hpp"

// A real installed wheel without pip: the binary distribution format (PEP 427) and the record of installed projects
// (PEP 376), so that `pip uninstall` and `pip list` take it for what it is.

namespace sage {

inline constexpr std::string_view wheel_distribution = "sage-doctor-attention";
inline constexpr std::string_view wheel_package = "sage_doctor_attention";

struct WheelFile {
  std::string path;  ///< relative to the package: "__init__.py", "lib/libsage_attention.so.1"
  std::string bytes;
};

struct WheelRequest {
  std::string site_packages;  ///< the folder that Python imports from; must be there
  std::string version;        ///< "0.1.0"
  std::string tag = "py3-none-linux_x86_64";
  std::vector<WheelFile> files;
};

struct WheelInstalled {
  std::string package;                  ///< "<site-packages>/sage_doctor_attention"
  std::string dist_info;                ///< "<site-packages>/sage_doctor_attention-0.1.0.dist-info"
  std::optional<std::string> replaced;  ///< the version that was there before
};

/// Installs the package, in place of an older one that sage-doctor installed. Nothing else is touched: a package of
/// that name that somebody else installed is an Error that says how to remove it. An interrupt leaves the old package
/// or the new one importable; the next install removes what is left over.
[[nodiscard]] Result<WheelInstalled> install_wheel(const WheelRequest& request);

}  // namespace sage
