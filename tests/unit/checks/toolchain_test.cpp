#include <string>

#include <doctest/doctest.h>

#include "probes/base/text.hpp"
#include "tests/support/sample_facts.hpp"

namespace sage {
namespace {

using namespace std::string_literals;

/// A ROCm of this version in `root` that has HIP's headers and some of the libraries', and a PyTorch that builds with it.
Facts without_headers(const std::string& root, const std::string& version) {
  Facts facts = test::healthy_facts();
  TorchInstall torch;
  torch.folder = "/venv/lib/python3.12/site-packages/torch";
  torch.flavour = TorchFlavour::rocm;
  PythonEnvironment environment;
  environment.prefix = "/venv";
  environment.executable = "/venv/bin/python3";
  environment.kind = PythonKind::venv;
  environment.devel = DevelState::absent;
  environment.torch = std::vector<TorchInstall>{torch};
  facts.python.environments = std::vector<PythonEnvironment>{environment};
  facts.rocm.roots = std::vector<RocmRoot>{{root, version}};
  TorchRocmHome home;
  home.torch_folder = torch.folder;
  home.path = std::optional<std::string>(root);
  home.rule = "ROCM_HOME"s;
  home.has_headers = true;
  home.has_hipcc = true;
  home.headers = std::vector<std::string>{"hipblas"};
  home.hipcc_in_torch = false;
  facts.toolchains.torch_rocm_homes = std::vector<TorchRocmHome>{home};
  return facts;
}

std::string first_command(const Facts& facts) {
  const Finding finding = test::finding_of("toolchain.extension-headers", facts);
  REQUIRE(finding.status == Status::warn);
  REQUIRE(!finding.remedies.empty());
  REQUIRE(!finding.remedies.front().commands.empty());
  return finding.remedies.front().commands.front();
}

}  // namespace

TEST_CASE("the packages with the headers are those of the ROCm that is there") {
  CHECK(contains(first_command(without_headers("/opt/rocm-7.2.0", "7.2.0")), "apt install rocthrust-dev"));
  CHECK(contains(first_command(without_headers("/opt/rocm/core-7.14", "7.14.0")), "apt install amdrocm-core-sdk"));
  CHECK(contains(first_command(without_headers("/opt/rocm/core-10.0", "10.0.0")), "apt install amdrocm-core-sdk"));
  CHECK(contains(first_command(without_headers("/usr", "7.14.0")), "apt install librocthrust-dev"));
}

}  // namespace sage
