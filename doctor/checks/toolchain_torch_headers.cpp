// Extensions are compiled with PyTorch's headers and the HIP of ROCM_HOME. Where that HIP is newer, its functions may
// be marked so that an ignored result is a warning, and older headers ignore some (facts/bugs.md B28: PyTorch 2.1.2).

#include "doctor/checks/python_common.hpp"
#include "doctor/checks/toolchain_rows.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

/// The report is of 2.1.2; newer headers look at every result in the place where it failed.
constexpr std::string_view first_that_checks = "2.2";

/// "6.4" of "2.9.1+rocm6.4", else what torch/version.py says of ROCm or HIP, whose numbers are the same up to 7.2.
Fact<std::string> rocm_of_torch(const TorchInstall& torch) {
  if (torch.rocm.known() && torch.rocm->has_value()) return **torch.rocm;
  if (!torch.version.known()) return Fact<std::string>::unknown(torch.version.why_unknown());
  const std::size_t mark = torch.version->find("+rocm");
  if (mark != std::string::npos) return torch.version->substr(mark + 5);
  if (!torch.hip.known()) return Fact<std::string>::unknown(torch.hip.why_unknown());
  return torch.hip->value_or("");
}

/// Major and minor number, of which a release of ROCm has two.
std::optional<Version> release_of(std::string_view text) {
  auto version = parse_version(text);
  if (version && version->parts.size() > 2) version->parts.resize(2);
  return version;
}

/// A compiler in the tree, which may be named by a link: /opt/rocm.
const Toolchain* compiler_of(const Facts& facts, const std::string& root) {
  for (const Toolchain& compiler : *facts.toolchains.compilers) {
    const bool compiles = compiler.kind.is(CompilerKind::hipcc) || compiler.kind.is(CompilerKind::amdclang);
    if (compiles && (compiler.root.is(root) || compiler.path.starts_with(root + "/"))) return &compiler;
  }
  return nullptr;
}

}  // namespace

std::vector<Finding> check_torch_headers(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_rocm_torch(facts)) return {*skip};
  if (auto skip = skip_without_compilers(facts)) return {*skip};
  if (auto skip = skip_unless_known({{"toolchains.torch_rocm_homes", &facts.toolchains.torch_rocm_homes}}))
    return {*skip};
  const TorchRocmHome* home = rocm_home_in_use(facts);
  if (home == nullptr) return {not_applicable("ROCM_HOME of this PyTorch was not looked for")};
  if (auto skip = skip_unless_known({{"toolchains.torch_rocm_homes.path", &home->path}})) return {*skip};
  const Toolchain* compiler = home->path->has_value() ? compiler_of(facts, **home->path) : nullptr;
  if (compiler == nullptr) return {not_applicable("PyTorch has no compiler to build extensions with")};
  const TorchInstall& torch = torch_in_use(facts);
  const Fact<std::string> rocm = rocm_of_torch(torch);
  if (auto skip = skip_unless_known({{"python.environments.torch.version", &torch.version},
                                     {"python.environments.torch.rocm", &rocm},
                                     {"toolchains.compilers.rocm_version", &compiler->rocm_version}})) {
    return {*skip};
  }
  const auto made_with = release_of(*rocm);
  const auto compiles_with = release_of(*compiler->rocm_version);
  if (!made_with || !compiles_with)
    return {make_finding(Status::skip, "unknown: the ROCm of PyTorch or of its compiler")};
  const std::string both =
      "PyTorch is made with ROCm " + *rocm + ", extensions are compiled with " + *compiler->rocm_version;
  if (*compiles_with <= *made_with) return {pass(both)};
  if (!version_below(*torch.version, first_that_checks)) return {info(both)};
  Finding finding = warn(both + ", which is newer");
  finding.evidence = {{torch.folder, *torch.version}, {compiler->path, "ROCm " + *compiler->rocm_version}};
  finding.cause =
      "Newer HIP marks its functions so that an ignored result is a warning, and headers of this PyTorch ignore "
      "some. A package that makes errors of warnings does not build: \"ignoring return value of function "
      "declared with 'nodiscard' attribute\".";
  finding.confidence = Confidence::possible;
  finding.remedies = {
      {"Only if a build fails so: compile with a ROCm of PyTorch's number, use a newer PyTorch, or let that "
       "warning be one.",
       {"export HIPCC_COMPILE_FLAGS_APPEND=-Wno-error=unused-result"},
       {}}};
  finding.verify = "hipcc --version";
  return {finding};
}

}  // namespace sage
