#include "probes/sage_install.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "probes/base/text.hpp"
#include "probes/look.hpp"
#include "probes/python_packages.hpp"

namespace sage {
namespace {

constexpr std::size_t most_records = 4;

/// Blanks and tabs decide nothing in these expressions.
std::string without_blanks(std::string_view text) {
  std::string dense;
  for (const char c : text) {
    if (c != ' ' && c != '\t') dense += c;
  }
  return dense;
}

/// Version 1 has its kernels beside __init__.py, version 2 in a folder.
Fact<bool> masks_tail_in(const Host& host, const std::string& folder) {
  Error why;
  for (const char* name : {"/attn_qk_int8_per_block.py", "/triton/attn_qk_int8_per_block.py"}) {
    const auto text = host.read_file(folder + name);
    if (text) return masks_tail(*text, folder + name);
    if (why.text.empty() || !is_absent(text.error())) why = text.error();
  }
  return Fact<bool>::unknown(why);
}

Fact<std::vector<std::string>> home_pages(const Host& host, const std::vector<PythonPackage>& packages) {
  using List = Fact<std::vector<std::string>>;
  std::vector<std::string> pages;
  std::size_t records = 0;
  for (const PythonPackage& package : packages) {
    if (!names_sageattention(package.name) || ++records > most_records) continue;
    const auto metadata = host.read_file(package.dist_info + "/METADATA");
    if (!metadata) return List::unknown(metadata.error());
    for (std::string& page : parse_metadata(*metadata).home_pages) pages.push_back(std::move(page));
  }
  return pages;
}

bool names_rocm(std::string_view line) {
  constexpr std::array words = {"rocm", "hipcc", "hipify", "version.hip", "is_hip", "hip_extension"};
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return contains_ignoring_case(line, word); });
}

bool names_version(std::string_view line) {
  return without_blanks(line).starts_with("version=");
}

/// "2.2.0" of "    version='2.2.0' + suffix,".
std::string quoted(std::string_view line) {
  const std::size_t begin = line.find_first_of("'\"");
  if (begin == std::string_view::npos) return "";
  const std::size_t end = line.find(line[begin], begin + 1);
  return end == std::string_view::npos ? "" : std::string(line.substr(begin + 1, end - begin - 1));
}

SageSources describe_sources(const Host& host, const std::string& folder) {
  SageSources sources;
  sources.folder = folder;
  const auto setup = host.read_file(folder + "/setup.py");
  if (!setup) {
    sources.version = Fact<std::string>::unknown(setup.error());
    sources.knows_hip = Fact<bool>::unknown(setup.error());
    return sources;
  }
  sources.version = std::string();
  sources.knows_hip = false;
  for (const std::string_view line : lines(*setup)) {
    if (names_rocm(line)) sources.knows_hip = true;
    if (names_version(line) && sources.version->empty()) sources.version = quoted(line);
  }
  return sources;
}

}  // namespace

bool tells_of_sage_build(std::string_view line) {
  return names_rocm(line) || names_version(line);
}

Fact<std::vector<SageSources>> find_sage_sources(const Host& host) {
  const std::string here = host.process().working_folder;
  if (!here.starts_with('/')) return Fact<std::vector<SageSources>>::unknown("the working folder is not known");
  std::vector<SageSources> found;
  for (const std::string& folder : {here, here + "/SageAttention"}) {
    if (exists(host, folder + "/sageattention/core.py").is(true)) found.push_back(describe_sources(host, folder));
  }
  return found;
}

Fact<bool> masks_tail(std::string_view kernel, const std::string& file) {
  const std::string dense = without_blanks(kernel);
  if (contains(dense, "tl.where(k_mask")) return true;
  if (contains(dense, "tl.load(K_ptrs,mask=k_mask")) return false;
  return Fact<bool>::unknown(file + ": not the kernel that is known");
}

SageInstall describe_sageattention(const Host& host, const std::string& site,
                                   const std::vector<PythonPackage>& packages) {
  SageInstall sage;
  sage.folder = site + "/sageattention";
  sage.home_pages = home_pages(host, packages);
  sage.masks_tail = masks_tail_in(host, sage.folder);
  return sage;
}

}  // namespace sage
