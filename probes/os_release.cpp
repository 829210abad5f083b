#include "probes/os_release.hpp"

#include "probes/base/text.hpp"
#include "probes/look.hpp"
#include "probes/quoting.hpp"

namespace sage {

std::map<std::string, std::string, std::less<>> parse_os_release(std::string_view text) {
  std::map<std::string, std::string, std::less<>> values;
  for (const std::string_view raw : lines(text)) {
    const std::string_view line = trim(raw);
    const std::size_t equals = line.find('=');
    if (line.starts_with('#') || equals == std::string_view::npos || equals == 0) continue;
    values[std::string(line.substr(0, equals))] = unquote(line.substr(equals + 1));
  }
  return values;
}

Distribution probe_distribution(const Host& host) {
  Result<std::string> text = host.read_file("/etc/os-release");
  if (!text && is_absent(text.error())) text = host.read_file("/usr/lib/os-release");
  if (!text) {
    const auto unknown = Fact<std::string>::unknown(text.error());
    return Distribution{unknown, unknown, unknown, unknown};
  }
  const auto values = parse_os_release(*text);
  const auto value = [&](std::string_view key, const char* fallback) {
    const auto found = values.find(key);
    return found == values.end() ? std::string(fallback) : found->second;
  };
  return Distribution{value("ID", "linux"), value("ID_LIKE", ""), value("VERSION_ID", ""),
                      value("PRETTY_NAME", "Linux")};
}

}  // namespace sage
