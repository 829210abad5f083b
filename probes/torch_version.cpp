#include "probes/torch_version.hpp"

#include <array>
#include <utility>

#include "probes/base/text.hpp"

namespace sage {
namespace {

struct Field {
  std::string_view name;
  std::optional<std::string> TorchVersion::*member;
};

constexpr auto fields = std::to_array<Field>({
    {"__version__", &TorchVersion::version},
    {"hip", &TorchVersion::hip},
    {"cuda", &TorchVersion::cuda},
    {"rocm", &TorchVersion::rocm},
    {"xpu", &TorchVersion::xpu},
});

/// The text between quotes; nullopt for anything else, such as None.
std::optional<std::string> quoted(std::string_view value) {
  if (value.size() < 3 || (value.front() != '\'' && value.front() != '"') || value.back() != value.front()) return {};
  return std::string(value.substr(1, value.size() - 2));
}

}  // namespace

TorchVersion parse_torch_version(std::string_view text) {
  TorchVersion result;
  for (const std::string_view line : lines(text)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view left = line.substr(0, equals);
    const std::string_view name = trim(left.substr(0, left.find(':')));
    for (const Field& field : fields) {
      if (name != field.name) continue;
      result.names_backends = result.names_backends || name == "hip" || name == "cuda";
      if (auto value = quoted(trim(line.substr(equals + 1)))) result.*field.member = std::move(value);
    }
  }
  return result;
}

}  // namespace sage
