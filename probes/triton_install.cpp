// What a Triton needs of the machine changed from release to release: up to 3.4 it started a linker, from 3.5 on it asks
// hipconfig, later it prefers the runtime of the rocm-sdk wheels (facts/wheels.md 2.7). Three distributions carry these
// changes at different times under like numbers, so the words of its own source are asked, never the version.

#include "probes/triton_install.hpp"

#include <algorithm>

#include "probes/base/text.hpp"
#include "probes/look.hpp"
#include "probes/search_path.hpp"

namespace sage {
namespace {

constexpr const char* backend_folder = "/backends/amd";

/// In the order in which path_to_rocm_lld() tries them.
std::string linker_of(const Host& host, const std::string& backend) {
  return first_file(host, {variable_of(host, "TRITON_HIP_LLD_PATH"), backend + "/llvm/bin/ld.lld",
                           "/opt/rocm/llvm/bin/ld.lld", "/usr/bin/ld.lld"});
}

Fact<std::vector<std::string>> bitcode_in(const Host& host, const std::string& folder) {
  using Names = Fact<std::vector<std::string>>;
  auto names = list_if_there(host, folder);
  if (!names) return Names::unknown(names.error());
  std::vector<std::string> found = std::move(names).value();
  std::erase_if(found, [](const std::string& name) { return !name.ends_with(".bc"); });
  return found;
}

void describe_backend(const Host& host, const std::string& backend, TritonInstall& triton) {
  const std::string driver = backend + "/driver.py";
  if (const auto text = host.read_file(driver)) {
    const TritonSearch search = triton_search(*text, driver);
    triton.takes_numbered_name = search.takes_numbered_name;
    triton.takes_sdk_first = search.takes_sdk_first;
    triton.asks_hipconfig = search.asks_hipconfig;
  } else {
    triton.takes_numbered_name = triton.takes_sdk_first = triton.asks_hipconfig = Fact<bool>::unknown(text.error());
  }
  if (const auto text = host.read_file(backend + "/compiler.py")) {
    triton.starts_linker = contains(*text, "ld.lld");
    triton.linker = linker_of(host, backend);
  } else {
    triton.starts_linker = Fact<bool>::unknown(text.error());
    triton.linker = Fact<std::string>::unknown(text.error());
  }
  triton.bitcode = bitcode_in(host, backend + "/lib");
  triton.has_headers = exists(host, backend + "/include/hip/hip_runtime.h");
}

}  // namespace

TritonInstall describe_triton(const Host& host, const std::string& site) {
  TritonInstall triton;
  triton.folder = site + "/triton";
  const std::string file = triton.folder + "/__init__.py";
  const auto text = host.read_file(file);
  const std::string version = text ? triton_version(*text) : "";
  if (!version.empty()) {
    triton.version = version;
  } else {
    triton.version = Fact<std::string>::unknown(text ? Error{0, file + ": no __version__"} : text.error());
  }
  describe_backend(host, triton.folder + backend_folder, triton);
  return triton;
}

TritonSearch triton_search(std::string_view driver, const std::string& file) {
  TritonSearch search;
  if (contains(driver, ".name.startswith(lib_name)")) {
    search.takes_numbered_name = true;
  } else if (contains(driver, "libhip_path.endswith(lib_name)")) {
    search.takes_numbered_name = false;
  } else {
    search.takes_numbered_name = Fact<bool>::unknown(file + ": not the search that is known");
  }
  search.takes_sdk_first = contains(driver, "rocm_sdk.find_libraries(");
  search.asks_hipconfig = contains(driver, "\"hipconfig\"");
  return search;
}

std::string triton_version(std::string_view text) {
  for (const std::string_view line : lines(text)) {
    if (!line.starts_with("__version__")) continue;
    const std::size_t begin = line.find_first_of("'\"");
    const std::size_t end = line.find_last_of("'\"");
    if (begin == std::string_view::npos || end <= begin) return "";
    return std::string(line.substr(begin + 1, end - begin - 1));
  }
  return "";
}

}  // namespace sage
