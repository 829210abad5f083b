#include "probes/python_packages.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "probes/base/requirement.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::size_t most_needs = 200;
constexpr std::size_t most_home_pages = 8;
constexpr std::size_t most_pth_lines = 64;
constexpr std::size_t pth_cap = 64 * 1024;

constexpr auto names_of_interest = std::to_array<std::string_view>({
    "torch", "triton", "triton-rocm", "pytorch-triton-rocm", "pytorch-triton", "rocm", "rocm-profiler", "flash-attn",
    "aiter", "amd-aiter", "xformers", "amdsmi",
});
constexpr auto prefixes_of_interest = std::to_array<std::string_view>({"rocm-sdk-", "amd-torch-device-"});

bool of_interest(std::string_view name) {
  return names_sageattention(name) || std::find(names_of_interest.begin(), names_of_interest.end(), name) != names_of_interest.end() ||
         std::any_of(prefixes_of_interest.begin(), prefixes_of_interest.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// "value" of "Key: value".
std::optional<std::string_view> header(std::string_view line, std::string_view key) {
  if (!line.starts_with(key) || line.substr(key.size()).substr(0, 1) != ":") return std::nullopt;
  return trim(line.substr(key.size() + 1));
}

/// The URL of "Home-page: URL" and "Project-URL: Homepage, URL"; nullopt for other lines, and for URLs that could hold a
/// password.
std::optional<std::string_view> home_page(std::string_view line) {
  auto url = header(line, "Home-page");
  if (const auto labelled = header(line, "Project-URL"); labelled && contains(*labelled, ",")) {
    url = trim(labelled->substr(labelled->find(',') + 1));
  }
  return url && url->starts_with("http") && !contains(*url, "@") ? url : std::nullopt;
}

}  // namespace

bool names_sageattention(std::string_view name) {
  return contains(name, "sageattention") || contains(name, "sage-attention") || contains(name, "sageattn");
}

std::optional<PythonPackage> package_of_interest(const std::string& site, const std::string& name) {
  std::string_view stem = name;
  const bool wheel = stem.ends_with(".dist-info");
  if (!wheel && !stem.ends_with(".egg-info")) return std::nullopt;
  stem.remove_suffix(wheel ? std::string_view(".dist-info").size() : std::string_view(".egg-info").size());
  const std::size_t dash = stem.find('-');
  std::string package = normalised_name(stem.substr(0, dash));
  if (!of_interest(package)) return std::nullopt;
  if (dash == std::string_view::npos) {
    return PythonPackage{std::move(package), Fact<std::string>::unknown(name + " names no version"), site + "/" + name};
  }
  std::string_view version = stem.substr(dash + 1);
  if (!wheel) version = version.substr(0, version.find("-py"));
  return PythonPackage{std::move(package), std::string(version), site + "/" + name};
}

PackageMetadata parse_metadata(std::string_view text) {
  PackageMetadata metadata;
  for (const std::string_view line : lines(text)) {
    if (trim(line).empty()) break;
    if (const auto version = header(line, "Version")) metadata.version = *version;
    const auto home = home_page(line);
    if (home && metadata.home_pages.size() < most_home_pages) metadata.home_pages.emplace_back(*home);
    const auto need = header(line, "Requires-Dist");
    if (!need || metadata.needs.size() == most_needs) continue;
    const std::size_t marker = need->find(';');
    if (marker != std::string_view::npos && contains(need->substr(marker), "extra")) continue;
    metadata.needs.emplace_back(trim(need->substr(0, marker)));
  }
  return metadata;
}

std::vector<std::string> parse_wheel_tags(std::string_view text) {
  std::vector<std::string> tags;
  for (const std::string_view line : lines(text)) {
    if (const auto tag = header(line, "Tag")) tags.emplace_back(*tag);
  }
  return tags;
}

std::string mapped_folder(std::string_view finder, std::string_view package) {
  for (const std::string_view line : lines(finder)) {
    if (!line.starts_with("MAPPING")) continue;
    for (const char quote : {'\'', '"'}) {
      const std::string key = quote + std::string(package) + quote + ':';
      const std::size_t at = line.find(key);
      if (at == std::string_view::npos) continue;
      const std::string_view rest = trim(line.substr(at + key.size()));
      const std::size_t end = rest.find(quote, 1);
      if (rest.starts_with(quote) && end != std::string_view::npos) return std::string(rest.substr(1, end - 1));
    }
  }
  return "";
}

std::vector<std::string> folders_of_pth(const Host& host, const std::string& site, const std::string& name) {
  const auto text = host.read_file(site + "/" + name, pth_cap);
  if (!text) return {};
  std::vector<std::string> folders;
  for (const std::string_view line : lines(*text)) {
    const std::string_view path = trim(line);
    if (path.empty() || line.starts_with('#') || line.starts_with("import ") || line.starts_with("import\t")) continue;
    if (folders.size() == most_pth_lines) break;
    std::string folder = path.starts_with('/') ? std::string(path) : site + "/" + std::string(path);
    const auto status = host.status(folder);
    if (status.ok() && status->type == FileType::directory) folders.push_back(std::move(folder));
  }
  return folders;
}

}  // namespace sage
