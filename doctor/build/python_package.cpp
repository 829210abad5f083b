#include "doctor/build/python_package.hpp"

#include <algorithm>

#include "probes/base/embedded.hpp"
#include "probes/host/file_calls.hpp"

namespace sage {
namespace {

constexpr std::size_t most_file_bytes = std::size_t{64} << 20;

/// Empty: the PyTorch there has a use for these targets.
std::string mismatch(const TorchInstall& torch, const std::vector<std::string>& targets) {
  const bool nvidia = std::any_of(targets.begin(), targets.end(), [](const std::string& one) { return one.starts_with("sm_"); });
  const bool amd = std::any_of(targets.begin(), targets.end(), [](const std::string& one) { return one.starts_with("gfx"); });
  if (!torch.flavour.known()) return "";
  const bool fits = (*torch.flavour == TorchFlavour::rocm && amd) || (*torch.flavour == TorchFlavour::cuda && nvidia);
  if (fits) return "";
  return "its PyTorch " + torch.version.value_or("") + " is a build for " + std::string(enum_name(*torch.flavour)) +
         ", and the kernels are for " + (amd ? "AMD" : "NVIDIA") + " GPUs";
}

}  // namespace

Result<std::string> site_for_package(const Facts& facts, const std::vector<std::string>& targets) {
  const auto refuse = [](const std::string& reason) { return Error{0, "not installed for Python: " + reason}; };
  if (!facts.python.environments.known()) return refuse(facts.python.environments.why_unknown().text);
  if (facts.python.environments->empty()) return refuse("no Python environment was found; name one with --python");
  const PythonEnvironment& environment = facts.python.environments->front();
  if (environment.kind.is(PythonKind::system)) {
    return refuse(environment.prefix + " is the system's own Python; activate a virtual environment, or name one with --python");
  }
  const std::string where = environment.prefix + ": ";
  if (!environment.torch.known()) return refuse(where + environment.torch.why_unknown().text);
  if (environment.torch->empty()) return refuse(where + "there is no PyTorch in it");
  if (const std::string why = mismatch(environment.torch->front(), targets); !why.empty()) return refuse(where + why);
  for (const PythonSite& site : environment.sites.value_or({})) {
    if (site.kind.is(SiteKind::own)) return site.path;
  }
  return refuse(where + "it has no site-packages folder of its own");
}

Result<WheelInstalled> install_package(const std::string& site_packages, const std::string& folder, const Manifest& manifest) {
  WheelRequest request;
  request.site_packages = site_packages;
  request.version = manifest.tool_version;
  for (const EmbeddedFile& file : embedded_python_package()) {
    request.files.push_back({std::string(file.name), std::string(file.text)});
  }
  std::vector<std::string> files = {manifest.library.file};
  for (const ManifestTarget& target : manifest.targets) {
    for (const ManifestKernel& kernel : target.kernels) files.push_back(kernel.file);
  }
  // A choice among the kernels lies beside them.
  for (const ManifestFile& other : manifest.other_files) {
    if (other.file.starts_with("kernels/")) files.push_back(other.file);
  }
  for (const std::string& file : files) {
    Result<std::string> bytes = file_calls::read_whole(folder + "/" + file, Links::keep, most_file_bytes);
    if (!bytes) return bytes.error();
    request.files.push_back({file, std::move(bytes).value()});
  }
  return install_wheel(request);
}

}  // namespace sage
