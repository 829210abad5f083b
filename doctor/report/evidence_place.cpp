#include "doctor/report/evidence_place.hpp"

#include <vector>

#include "doctor/report/escape.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

// Takes "<separator><number>" off the end of `source`.
std::optional<std::uint64_t> take_line(std::string_view& source, std::string_view separator) {
  const std::size_t at = source.rfind(separator);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  const auto number = parse_number(source.substr(at + separator.size()));
  // SARIF counts from 1, in numbers of 32 bits at least.
  if (!number || *number == 0 || *number > 0x7fffffff) return std::nullopt;
  source = source.substr(0, at);
  return number;
}

// Without "." and empty segments, as SARIF 2.1.0 (3.10.2) wants file URIs; nullopt with "..".
std::optional<std::string> plain_path(std::string_view path) {
  std::string out;
  for (const std::string_view segment : split(path, '/')) {
    if (segment == "..") return std::nullopt;
    if (segment.empty() || segment == ".") continue;
    out += "/" + std::string(segment);
  }
  return out;
}

std::optional<std::string> uri_of(std::string_view path) {
  const auto plain = plain_path(path);
  if (!plain || plain->empty()) return std::nullopt;
  if (path.starts_with('/')) return "file://" + uri_path(*plain);
  return uri_path(plain->substr(1));
}

}  // namespace

std::optional<EvidencePlace> evidence_place(std::string_view source) {
  EvidencePlace place;
  const bool absolute = source.starts_with('/');
  place.line = take_line(source, ":");
  if (absolute && !place.line) place.line = take_line(source, " line ");
  if (absolute && !place.line) source = source.substr(0, source.find(" ["));
  // A relative name is a file only where a line of it is meant and it looks like one; "dxg:0" does not.
  if (!absolute && !(place.line && source.find_first_of("./") != std::string_view::npos)) return std::nullopt;
  // "/dev/dxg adapter AMD Radeon": words about a file. Folders have blanks in their names, too.
  const std::string_view name = source.substr(source.rfind('/') + 1);
  if ((!place.line && contains(name, " ")) || contains(source, "*")) return std::nullopt;
  const auto uri = uri_of(source);
  if (!uri) return std::nullopt;
  place.uri = *uri;
  return place;
}

}  // namespace sage
