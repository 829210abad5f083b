#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sage {

/// The plain assignments of torch/version.py (facts/wheels.md 2.6). Empty: None, or no such line.
struct TorchVersion {
  std::optional<std::string> version;  ///< __version__
  std::optional<std::string> hip;
  std::optional<std::string> cuda;
  std::optional<std::string> rocm;
  std::optional<std::string> xpu;
  bool names_backends = false;  ///< there are lines for hip or cuda, so that both None means a CPU build
};

/// Reads lines "name = 'text'" and "name: Optional[str] = 'text'"; nothing is executed.
[[nodiscard]] TorchVersion parse_torch_version(std::string_view text);

}  // namespace sage
