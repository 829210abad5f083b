#include <doctest/doctest.h>

#include "probes/base/text.hpp"
#include "tests/support/sample_facts.hpp"

namespace sage {
namespace {

using namespace std::string_literals;

using test::commands_of;
using test::finding_of;
using test::findings_of;
using test::healthy_facts;

const std::string site = "/home/u/venv/lib/python3.12/site-packages";

PythonPackage package(std::string name, std::string version) {
  PythonPackage package;
  package.dist_info = site + "/" + name + "-" + version + ".dist-info";
  package.name = std::move(name);
  package.version = std::move(version);
  return package;
}

TorchInstall rocm_torch() {
  TorchInstall torch;
  torch.folder = site + "/torch";
  torch.site = SiteKind::own;
  torch.version = "2.9.1+rocm7.2"s;
  torch.hip = std::optional<std::string>("7.2.26015");
  torch.cuda = std::optional<std::string>();
  torch.rocm = std::optional<std::string>();
  torch.flavour = TorchFlavour::rocm;
  torch.library_flavour = TorchFlavour::rocm;
  torch.metadata_versions = std::vector<std::string>{"2.9.1+rocm7.2"};
  torch.needs = std::vector<std::string>{"triton-rocm==3.5.1"};
  torch.wheel_tags = std::vector<std::string>{"cp312-cp312-manylinux_2_28_x86_64"};
  torch.family = TorchFamily::fat;
  torch.family_evidence = site + "/torch/lib/libamdhip64.so";
  torch.rocblas_targets = std::vector<std::string>{"gfx1100", "gfx1201"};
  torch.editable = false;
  return torch;
}

PythonEnvironment good_venv() {
  PythonEnvironment environment;
  environment.prefix = "/home/u/venv";
  environment.executable = "/home/u/venv/bin/python3";
  environment.found = PythonFound::virtual_env;
  environment.kind = PythonKind::venv;
  environment.version = "3.12"s;
  environment.home = std::optional<std::string>("/usr/bin");
  environment.interpreter_there = true;
  environment.sites = std::vector<PythonSite>{{site, SiteKind::own}};
  environment.packages = std::vector<PythonPackage>{package("torch", "2.9.1+rocm7.2"), package("triton-rocm", "3.5.1")};
  environment.leftovers = std::vector<std::string>{};
  environment.torch = std::vector<TorchInstall>{rocm_torch()};
  environment.sdk_folders = std::vector<std::string>{};
  environment.devel = DevelState::absent;
  return environment;
}

Facts with(PythonEnvironment environment) {
  Facts facts = healthy_facts();
  facts.python.environments = std::vector<PythonEnvironment>{std::move(environment)};
  return facts;
}

PythonEnvironment with_flavour(TorchFlavour flavour) {
  PythonEnvironment environment = good_venv();
  TorchInstall& torch = environment.torch.value().front();
  torch.version = "2.9.1"s;
  torch.flavour = torch.library_flavour = flavour;
  return environment;
}

PythonEnvironment thin_venv() {
  PythonEnvironment environment = good_venv();
  environment.torch.value().front().family = TorchFamily::thin;
  environment.packages.value().push_back(package("rocm-sdk-core", "7.14.0"));
  environment.packages.value().push_back(package("rocm-sdk-libraries-gfx120x-all", "7.14.0"));
  environment.sdk_folders = std::vector<std::string>{site + "/_rocm_sdk_core"};
  return environment;
}

constexpr auto ids = {"python.environment-broken", "python.torch-present",     "python.torch-shadowed",
                      "python.torch-flavour",      "python.torch-health",      "python.torch-target",
                      "python.triton-conflict",    "python.rocm-sdk-versions", "python.sageattention"};

}  // namespace

TEST_CASE("python: without an AMD GPU, and without a Python, every check is silent") {
  Facts no_gpu = with(with_flavour(TorchFlavour::cuda));
  no_gpu.gpus.amd = std::vector<Gpu>{};
  Facts no_python = healthy_facts();
  no_python.python.environments = std::vector<PythonEnvironment>{};
  for (const char* id : ids) {
    CHECK(finding_of(id, no_gpu).status == Status::skip);
    CHECK(finding_of(id, no_python).status == Status::skip);
    CHECK(finding_of(id, healthy_facts()).observed == "unknown: python.environments (not probed)");
  }
}

TEST_CASE("python: a good environment has nothing to complain of") {
  for (const char* id : ids) {
    const Status status = finding_of(id, with(good_venv())).status;
    CHECK_MESSAGE((status == Status::pass || status == Status::skip), id);
  }
}

TEST_CASE("python: a build for other GPUs fails, and only warns where it may be meant") {
  const Finding cuda = finding_of("python.torch-flavour", with(with_flavour(TorchFlavour::cuda)));
  CHECK(cuda.status == Status::fail);
  CHECK(commands_of(cuda) == "/home/u/venv/bin/python3 -m pip install --force-reinstall torch torchvision torchaudio "
                             "--index-url https://download.pytorch.org/whl/rocm7.2\n");
  CHECK(finding_of("python.torch-flavour", with(with_flavour(TorchFlavour::cpu))).status == Status::fail);

  Facts both = with(with_flavour(TorchFlavour::cuda));
  both.gpus.others = std::vector<std::string>{"NVIDIA 10de:2684"};
  CHECK(finding_of("python.torch-flavour", both).status == Status::warn);
  both.python.environments = std::vector<PythonEnvironment>{with_flavour(TorchFlavour::cpu)};
  CHECK(finding_of("python.torch-flavour", both).status == Status::fail);

  PythonEnvironment project = with_flavour(TorchFlavour::cuda);
  project.found = PythonFound::working_folder;
  CHECK(finding_of("python.torch-flavour", with(project)).status == Status::warn);
}

TEST_CASE("python: the remedy speaks the language of the environment and of the GPU") {
  PythonEnvironment uv = with_flavour(TorchFlavour::cpu);
  uv.kind = PythonKind::uv;
  CHECK(contains(commands_of(finding_of("python.torch-flavour", with(uv))),
                 "uv pip install --python /home/u/venv/bin/python3 --reinstall torch"));

  PythonEnvironment system = with_flavour(TorchFlavour::cpu);
  system.kind = PythonKind::system;
  CHECK(contains(commands_of(finding_of("python.torch-flavour", with(system))), "python3 -m venv ~/rocm-venv\n"));

  Facts old_gpu = with(with_flavour(TorchFlavour::cpu));
  old_gpu.gpus.amd.value().front().target = "gfx1031"s;
  CHECK(contains(commands_of(finding_of("python.torch-flavour", old_gpu)), "'torch[device-gfx1031]'"));
}

TEST_CASE("python: sources that disagree are a matter of health, not a wrong build") {
  PythonEnvironment environment = good_venv();
  environment.torch.value().front().flavour = TorchFlavour::cuda;
  CHECK(finding_of("python.torch-flavour", with(environment)).status == Status::skip);
  CHECK(finding_of("python.torch-health", with(environment)).status == Status::warn);
}

TEST_CASE("python: leftovers, second records and another Python's wheel are named") {
  PythonEnvironment environment = good_venv();
  environment.leftovers = std::vector<std::string>{site + "/~orch"};
  environment.packages.value().push_back(package("torch", "2.8.0"));
  environment.torch.value().front().metadata_versions = std::vector<std::string>{"2.9.1", "2.8.0"};
  environment.torch.value().front().wheel_tags = std::vector<std::string>{"cp311-cp311-linux_x86_64"};
  const Finding finding = finding_of("python.torch-health", with(environment));
  CHECK(finding.status == Status::warn);
  CHECK(finding.evidence.size() == 5);
  CHECK(contains(commands_of(finding), "rm -r '" + site + "/~orch'\n"));
}

TEST_CASE("python: abi3, free-threaded and pure tags fit what they are made for") {
  const auto status = [](std::string tag, std::string python) {
    PythonEnvironment environment = good_venv();
    environment.version = std::move(python);
    environment.torch.value().front().wheel_tags = std::vector<std::string>{std::move(tag)};
    return finding_of("python.torch-health", with(environment)).status;
  };
  CHECK(status("cp39-abi3-linux_x86_64", "3.12") == Status::pass);
  CHECK(status("cp313-abi3-linux_x86_64", "3.12") == Status::warn);
  CHECK(status("cp313-cp313t-linux_x86_64", "3.13t") == Status::pass);
  CHECK(status("cp313-cp313-linux_x86_64", "3.13t") == Status::warn);
  CHECK(status("py3-none-any", "3.12") == Status::pass);
}

TEST_CASE("python: a missing target fails for its GPU, unless an override or a generic target serves it") {
  Facts facts = with(good_venv());
  CHECK(finding_of("python.torch-target", facts).subject == "0000:03:00.0");
  auto& targets = facts.python.environments.value().front().torch.value().front().rocblas_targets.value();
  targets = {"gfx1100"};
  CHECK(finding_of("python.torch-target", facts).status == Status::fail);
  test::set_variable(facts, "HSA_OVERRIDE_GFX_VERSION", "11.0.0");
  CHECK(finding_of("python.torch-target", facts).status == Status::pass);
  targets = {};
  CHECK(finding_of("python.torch-target", facts).status == Status::skip);
}

TEST_CASE("python: an integrated GPU without code is a note beside a discrete one with code") {
  Facts facts = with(good_venv());
  facts.gpus.amd.value().push_back(test::integrated_gpu());
  const auto findings = findings_of("python.torch-target", facts);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].status == Status::pass);
  CHECK(findings[1].status == Status::info);
}

TEST_CASE("python: a family of the SDK covers the targets that fit its name") {
  Facts facts = with(thin_venv());
  CHECK(finding_of("python.torch-target", facts).status == Status::pass);
  facts.gpus.amd.value().front().target = "gfx1100"s;
  CHECK(finding_of("python.torch-target", facts).status == Status::fail);
  facts.python.environments.value().front().packages.value().push_back(package("rocm-sdk-device-gfx1100", "7.14.0"));
  CHECK(finding_of("python.torch-target", facts).status == Status::pass);
  facts.python.environments.value().front().packages.value().push_back(package("rocm-sdk-libraries-custom", "7.14.0"));
  CHECK(finding_of("python.torch-target", facts).status == Status::skip);
}

TEST_CASE("python: torch of ~/.local or PYTHONPATH in front of the environment's is named with the way out") {
  PythonEnvironment environment = good_venv();
  TorchInstall outsider = rocm_torch();
  outsider.folder = "/home/u/.local/lib/python3.12/site-packages/torch";
  outsider.site = SiteKind::user;
  auto& torch = environment.torch.value();
  torch.insert(torch.begin(), outsider);
  CHECK(commands_of(finding_of("python.torch-shadowed", with(environment))) == "export PYTHONNOUSERSITE=1\n");

  torch.front().site = SiteKind::python_path;
  const Finding finding = finding_of("python.torch-shadowed", with(environment));
  CHECK(finding.status == Status::warn);
  CHECK(contains(commands_of(finding), "unset PYTHONPATH"));

  torch.front().flavour = torch.front().library_flavour = TorchFlavour::cuda;
  CHECK(contains(commands_of(finding_of("python.torch-flavour", with(environment))), "unset PYTHONPATH"));

  torch.pop_back();
  CHECK(finding_of("python.torch-shadowed", with(environment)).status == Status::pass);
}

TEST_CASE("python: two Tritons, and one that PyTorch did not ask for, are warned of") {
  PythonEnvironment environment = good_venv();
  environment.packages.value().push_back(package("triton", "3.6.0"));
  Finding finding = finding_of("python.triton-conflict", with(environment));
  CHECK(finding.status == Status::warn);
  CHECK(commands_of(finding) ==
        "/home/u/venv/bin/python3 -m pip uninstall -y triton-rocm triton\n"
        "/home/u/venv/bin/python3 -m pip install --no-deps triton-rocm==3.5.1 --index-url "
        "https://download.pytorch.org/whl/rocm7.2\n");

  environment.packages = std::vector<PythonPackage>{package("triton", "3.6.0")};
  finding = finding_of("python.triton-conflict", with(environment));
  CHECK(finding.status == Status::warn);
  environment.torch.value().front().needs = std::vector<std::string>{"triton==3.6.0+rocm7.10.0"};
  CHECK(finding_of("python.triton-conflict", with(environment)).status == Status::pass);
}

TEST_CASE("python: the SDK wheels must be there, of one version, in one folder, and expanded to the end") {
  CHECK(finding_of("python.rocm-sdk-versions", with(thin_venv())).status == Status::pass);

  PythonEnvironment missing = thin_venv();
  missing.sdk_folders = std::vector<std::string>{};
  CHECK(finding_of("python.rocm-sdk-versions", with(missing)).status == Status::fail);

  PythonEnvironment mixed = thin_venv();
  mixed.packages.value().back().version = "7.14.1"s;
  CHECK(finding_of("python.rocm-sdk-versions", with(mixed)).status == Status::warn);

  PythonEnvironment apart = thin_venv();
  apart.packages.value().back().dist_info = "/elsewhere/rocm_sdk_libraries.dist-info";
  CHECK(finding_of("python.rocm-sdk-versions", with(apart)).status == Status::warn);

  PythonEnvironment interrupted = thin_venv();
  interrupted.devel = DevelState::interrupted;
  CHECK(commands_of(finding_of("python.rocm-sdk-versions", with(interrupted))) == "/home/u/venv/bin/rocm-sdk init\n");
}

TEST_CASE("python: SageAttention 2 is warned of, its ROCm forks and version 1 are not") {
  const auto status = [](std::string version) {
    PythonEnvironment environment = good_venv();
    environment.packages.value().push_back(package("sageattention", std::move(version)));
    return finding_of("python.sageattention", with(environment)).status;
  };
  CHECK(status("1.0.6") == Status::pass);
  CHECK(status("2.2.0") == Status::warn);
  CHECK(status("2.2.0+rocm7") == Status::info);
  CHECK(status("main") == Status::skip);
}

TEST_CASE("python: an environment without PyTorch is worth a warning only where another one has it") {
  PythonEnvironment empty = good_venv();
  empty.torch = std::vector<TorchInstall>{};
  Facts facts = with(empty);
  CHECK(finding_of("python.torch-present", facts).status == Status::info);
  facts.python.environments.value().push_back(good_venv());
  CHECK(finding_of("python.torch-present", facts).status == Status::warn);
}

}  // namespace sage
