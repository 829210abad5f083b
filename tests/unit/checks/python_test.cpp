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
  torch.other_families = std::vector<std::string>{};
  torch.rocblas_targets = std::vector<std::string>{"gfx1100", "gfx1201"};
  torch.editable = false;
  torch.numa_without_alias = false;
  torch.hipblaslt_targets = std::vector<std::string>{"gfx1100", "gfx1201"};
  torch.aotriton_images = std::vector<std::string>{"amd-gfx11xx", "amd-gfx120x"};
  torch.kpack_targets = std::vector<std::string>{};
  torch.rpath = std::vector<std::string>{"$ORIGIN"};
  torch.runpath = std::vector<std::string>{};
  torch.needed_hip = std::vector<std::string>{"libamdhip64.so"};
  torch.code_in_file = true;
  torch.code_targets = std::vector<std::string>{"gfx1100", "gfx1201"};
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
  environment.sdk.kpack_targets = environment.sdk.dangling = environment.sdk.copied = environment.sdk.missing_bitcode =
      std::vector<std::string>{};
  environment.sage = std::vector<SageInstall>{};
  environment.triton = std::vector<TritonInstall>{};
  return environment;
}

Facts with(PythonEnvironment environment) {
  Facts facts = healthy_facts();
  facts.python.environments = std::vector<PythonEnvironment>{std::move(environment)};
  facts.python.comfyui = std::vector<std::string>{};
  facts.python.sage_sources = std::vector<SageSources>{};
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

TorchInstall& torch_of(PythonEnvironment& environment) {
  return environment.torch.value().front();
}

/// The multi-arch build of AMD: its code lies in packages of their own, and this GPU's are there.
PythonEnvironment split_venv() {
  PythonEnvironment environment = thin_venv();
  environment.packages = std::vector<PythonPackage>{
      package("torch", "2.11.0+rocm7.13.0"), package("rocm-sdk-core", "7.13.0"), package("rocm-sdk-libraries", "7.13.0")};
  environment.sdk.code_in_file = false;
  environment.sdk.kpack_targets = std::vector<std::string>{"gfx1201"};
  torch_of(environment).version = "2.11.0+rocm7.13.0"s;
  torch_of(environment).code_in_file = false;
  torch_of(environment).code_targets = std::vector<std::string>{};
  torch_of(environment).kpack_targets = std::vector<std::string>{"gfx1201"};
  return environment;
}

/// A build of one's own, linked with the HIP runtime of this name.
PythonEnvironment borrowing_venv(std::string soname) {
  PythonEnvironment environment = good_venv();
  torch_of(environment).family = TorchFamily::source;
  torch_of(environment).needed_hip = std::vector<std::string>{std::move(soname)};
  return environment;
}

PythonEnvironment with_sageattention(std::string version, Fact<bool> masks_tail, std::string home = "") {
  PythonEnvironment environment = good_venv();
  environment.packages.value().back() = package("triton-rocm", "3.8.0");
  environment.packages.value().push_back(package("sageattention", std::move(version)));
  SageInstall sage;
  sage.folder = site + "/sageattention";
  sage.home_pages = home.empty() ? std::vector<std::string>{} : std::vector<std::string>{std::move(home)};
  sage.masks_tail = std::move(masks_tail);
  environment.sage = std::vector<SageInstall>{sage};
  return environment;
}

constexpr auto ids = {
    "python.environment-broken", "python.torch-present",  "python.torch-shadowed",    "python.torch-flavour",
    "python.torch-health",       "python.torch-family",   "python.torch-runpath",     "python.system-rocm",
    "python.import-hang",        "python.amdsmi",         "python.torch-target",      "python.torch-kernels",
    "python.triton-conflict",    "python.triton-libhip",  "python.rocm-sdk-versions", "python.rocm-sdk-files",
    "python.sageattention",      "python.sage-sources",   "python.attention-packages"};

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
  Facts facts = with(good_venv());
  test::set_variable(facts, "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL", "1");
  for (const char* id : ids) {
    const Finding finding = finding_of(id, facts);
    CHECK_MESSAGE((finding.status == Status::pass || finding.status == Status::skip), id << ": " << finding.observed);
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
  CHECK(status("cp312-abi3-linux_x86_64", "3.12") == Status::pass);
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
  facts.python.environments.value().front().torch.value().front().code_targets.value() = {"gfx906"};
  targets = {};
  CHECK(finding_of("python.torch-target", facts).status == Status::fail);
  facts.python.environments.value().front().torch.value().front().code_in_file = Fact<bool>();
  CHECK(finding_of("python.torch-target", facts).status == Status::skip);
}

TEST_CASE("python: code of its own and code of the math libraries must both be there") {
  PythonEnvironment environment = good_venv();
  torch_of(environment).code_targets = std::vector<std::string>{"gfx1100", "gfx90a:xnack-"};
  const Finding finding = finding_of("python.torch-target", with(environment));
  CHECK(finding.status == Status::fail);
  REQUIRE(finding.evidence.size() == 1);
  CHECK(finding.evidence.front().source == site + "/torch/lib/libtorch_hip.so");

  torch_of(environment).code_targets = std::vector<std::string>{"amdgcnspirv"};
  CHECK(finding_of("python.torch-target", with(environment)).status == Status::pass);
  torch_of(environment).code_targets = std::vector<std::string>{"gfx12-generic"};
  CHECK(finding_of("python.torch-target", with(environment)).status == Status::pass);
  torch_of(environment).code_targets = Fact<std::vector<std::string>>();
  CHECK(finding_of("python.torch-target", with(environment)).status == Status::info);
}

TEST_CASE("python: a build that is split by GPU misses its package for this one") {
  CHECK(finding_of("python.torch-target", with(split_venv())).status == Status::pass);

  PythonEnvironment bare = split_venv();
  bare.sdk.kpack_targets = std::vector<std::string>{};
  torch_of(bare).kpack_targets = std::vector<std::string>{};
  const Finding finding = finding_of("python.torch-target", with(bare));
  CHECK(finding.status == Status::fail);
  CHECK(commands_of(finding) ==
        "/home/u/venv/bin/python3 -m pip install 'torch[device-gfx1201]==2.11.0+rocm7.13.0'\n");
  bare.packages.value().push_back(package("rocm-sdk-device-gfx1201", "7.13.0"));
  CHECK(finding_of("python.torch-target", with(bare)).status == Status::fail);
  bare.packages.value().push_back(package("amd-torch-device-gfx1201", "2.11.0"));
  CHECK(finding_of("python.torch-target", with(bare)).status == Status::pass);

  PythonEnvironment unread = split_venv();
  unread.sdk.kpack_targets = std::vector<std::string>{};
  unread.sdk.code_in_file = Fact<bool>();
  CHECK(finding_of("python.torch-target", with(unread)).status == Status::info);
}

TEST_CASE("python: attention kernels that newer builds have are missed, those that none has are only told") {
  PythonEnvironment environment = good_venv();
  Facts facts = with(environment);
  test::set_variable(facts, "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL", "");
  CHECK(finding_of("python.torch-kernels", facts).status == Status::info);
  test::set_variable(facts, "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL", "0");
  CHECK(finding_of("python.torch-kernels", facts).status == Status::info);
  test::set_variable(facts, "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL", "1");
  CHECK(finding_of("python.torch-kernels", facts).status == Status::pass);

  auto& images = facts.python.environments.value().front().torch.value().front().aotriton_images.value();
  images = {"amd-gfx11xx", "amd-gfx942"};
  CHECK(finding_of("python.torch-kernels", facts).status == Status::warn);
  facts.gpus.amd.value().front().target = "gfx1030"s;
  CHECK(finding_of("python.torch-kernels", facts).status == Status::info);
  images = {};
  CHECK(finding_of("python.torch-kernels", facts).status == Status::skip);

  facts.gpus.amd.value().front().target = "gfx1102"s;
  images = {"amd-gfx11xx"};
  const Finding slow = finding_of("python.torch-kernels", facts);
  CHECK(slow.status == Status::info);
  CHECK(contains(slow.observed, "hipBLASLt has no kernels for gfx1102"));
}

TEST_CASE("python: marks of two families in one folder are a mixed installation") {
  PythonEnvironment environment = good_venv();
  CHECK(finding_of("python.torch-family", with(environment)).status == Status::pass);
  torch_of(environment).other_families = std::vector<std::string>{"Requires-Dist: rocm[libraries]==7.14.0"};
  CHECK(finding_of("python.torch-family", with(environment)).status == Status::warn);
}

TEST_CASE("python: only a build with RUNPATH loses to a ROCm in LD_LIBRARY_PATH") {
  PythonEnvironment environment = good_venv();
  torch_of(environment).rpath = std::vector<std::string>{};
  torch_of(environment).runpath = std::vector<std::string>{"$ORIGIN"};
  Facts facts = with(environment);
  facts.environment.named_paths = std::vector<NamedPath>{{"ROCM_PATH", "/opt/rocm", true},
                                                         {"LD_LIBRARY_PATH", "/home/u/lib", true},
                                                         {"LD_LIBRARY_PATH", "/opt/rocm-gone/lib", false}};
  CHECK(finding_of("python.torch-runpath", facts).status == Status::pass);
  facts.environment.named_paths.value().push_back({"LD_LIBRARY_PATH", "/opt/rocm/lib", true});
  CHECK(finding_of("python.torch-runpath", facts).status == Status::warn);
  torch_of(facts.python.environments.value().front()).runpath = std::vector<std::string>{};
  CHECK(finding_of("python.torch-runpath", facts).status == Status::pass);
}

TEST_CASE("python: a build without a runtime needs a ROCm whose HIP has its number") {
  Facts facts = with(borrowing_venv("libamdhip64.so.6"));
  facts.rocm.roots = std::vector<RocmRoot>{{"/opt/rocm-7.2.0", "7.2.0"s}};
  CHECK(finding_of("python.system-rocm", facts).status == Status::warn);
  facts.rocm.roots.value().push_back({"/opt/rocm-6.4.1", "6.4.1"s});
  CHECK(finding_of("python.system-rocm", facts).status == Status::pass);

  facts.python.environments = std::vector<PythonEnvironment>{borrowing_venv("libamdhip64.so.7")};
  facts.rocm.roots = std::vector<RocmRoot>{{"/opt/rocm-10.0.0", "10.0.0"s}};
  CHECK(finding_of("python.system-rocm", facts).status == Status::pass);
  facts.rocm.roots = std::vector<RocmRoot>{};
  CHECK(finding_of("python.system-rocm", facts).status == Status::warn);
  LibraryCopy copy;
  copy.path = "/usr/lib64/libamdhip64.so.7";
  copy.soname = "libamdhip64.so.7"s;
  facts.libraries.copies = std::vector<LibraryCopy>{copy};
  CHECK(finding_of("python.system-rocm", facts).status == Status::pass);
}

TEST_CASE("python: a ROCm of another number beside a PyTorch with a runtime is a note") {
  Facts facts = with(good_venv());
  facts.rocm.roots = std::vector<RocmRoot>{{"/opt/rocm-6.4.1", "6.4.1"s}};
  CHECK(finding_of("python.system-rocm", facts).status == Status::info);
  facts.rocm.roots = std::vector<RocmRoot>{{"/opt/rocm-10.0.0", "10.0.0"s}};
  CHECK(finding_of("python.system-rocm", facts).status == Status::pass);
  facts.rocm.roots.value().push_back({"/opt/rocm-99.0", "99.0"s});
  CHECK(finding_of("python.system-rocm", facts).status == Status::pass);
}

TEST_CASE("python: the build that may hang is warned of only without /dev/kfd") {
  PythonEnvironment environment = good_venv();
  torch_of(environment).numa_without_alias = true;
  Facts facts = with(environment);
  facts.devices.kfd.present = true;
  CHECK(finding_of("python.import-hang", facts).status == Status::info);
  facts.devices.kfd.present = false;
  CHECK(finding_of("python.import-hang", facts).status == Status::warn);
  facts.devices.kfd.present = Fact<bool>();
  CHECK(finding_of("python.import-hang", facts).status == Status::skip);
}

TEST_CASE("python: an amdsmi of its own is warned of") {
  PythonEnvironment environment = good_venv();
  environment.packages.value().push_back(package("amdsmi", "6.4.1"));
  CHECK(finding_of("python.amdsmi", with(environment)).status == Status::warn);
}

TEST_CASE("python: TRITON_LIBHIP_PATH must name a file that is there, without a number in its name") {
  Facts facts = with(good_venv());
  const auto status = [&](std::string path, Fact<bool> there) {
    test::set_variable(facts, "TRITON_LIBHIP_PATH", path);
    facts.environment.named_paths = std::vector<NamedPath>{{"TRITON_LIBHIP_PATH", path, std::move(there)}};
    return finding_of("python.triton-libhip", facts).status;
  };
  CHECK(status("", Fact<bool>()) == Status::pass);
  CHECK(status("/opt/rocm/lib/libamdhip64.so", true) == Status::pass);
  CHECK(status("/opt/rocm/lib/libamdhip64.so", false) == Status::fail);
  CHECK(status("/opt/rocm/lib/libamdhip64.so", Fact<bool>()) == Status::skip);
  CHECK(status("/opt/rocm/lib/libamdhip64.so.7", true) == Status::fail);
  facts.python.environments.value().front().packages = std::vector<PythonPackage>{};
  CHECK(status("/opt/rocm/lib/libamdhip64.so.7", true) == Status::skip);
}

TEST_CASE("python: files of the SDK that do not belong together are named, the worst first") {
  const auto finding = [](auto change) {
    PythonEnvironment environment = thin_venv();
    change(environment.sdk);
    return finding_of("python.rocm-sdk-files", with(environment));
  };
  CHECK(finding([](SdkFiles&) {}).status == Status::pass);
  CHECK(finding([](SdkFiles& sdk) { sdk.copied = Fact<std::vector<std::string>>(); }).status == Status::skip);
  CHECK(finding([](SdkFiles& sdk) { sdk.dangling.value().push_back("/x/libamdhip64.so.7"); }).status == Status::warn);
  const Finding copied = finding([](SdkFiles& sdk) { sdk.copied.value().push_back("/x/libamdhip64.so.7"); });
  CHECK(copied.status == Status::warn);
  CHECK(contains(commands_of(copied), "/home/u/venv/bin/rocm-sdk init\n"));
  const Finding bitcode = finding([](SdkFiles& sdk) { sdk.missing_bitcode.value().push_back("oclc_daz_opt_on.bc"); });
  CHECK(commands_of(bitcode) ==
        "export HIP_DEVICE_LIB_PATH=" + site + "/_rocm_sdk_core/lib/llvm/amdgcn/bitcode\n");
}

TEST_CASE("python: Triton and the SDK are held against the versions that PyTorch asks for") {
  PythonEnvironment environment = good_venv();
  environment.packages = std::vector<PythonPackage>{package("triton-rocm", "3.6.0")};
  CHECK(finding_of("python.triton-conflict", with(environment)).status == Status::warn);
  environment.packages = std::vector<PythonPackage>{package("triton-rocm", "3.5.1+git123")};
  CHECK(finding_of("python.triton-conflict", with(environment)).status == Status::pass);

  PythonEnvironment thin = thin_venv();
  thin.packages.value().push_back(package("rocm", "7.14.0"));
  torch_of(thin).needs = std::vector<std::string>{"rocm[libraries]==7.14.*"};
  CHECK(finding_of("python.rocm-sdk-versions", with(thin)).status == Status::pass);
  torch_of(thin).needs = std::vector<std::string>{"rocm[libraries]==7.13.*"};
  CHECK(finding_of("python.rocm-sdk-versions", with(thin)).status == Status::warn);
}

TEST_CASE("python: flash-attn's switch counts only when it is TRUE, ComfyUI is told of") {
  PythonEnvironment environment = good_venv();
  Facts facts = with(environment);
  test::set_variable(facts, "FLASH_ATTENTION_TRITON_AMD_ENABLE", "1");
  CHECK(finding_of("python.attention-packages", facts).status == Status::skip);
  facts.python.environments.value().front().packages.value().push_back(package("flash-attn", "2.8.3"));
  CHECK(commands_of(finding_of("python.attention-packages", facts)) ==
        "export FLASH_ATTENTION_TRITON_AMD_ENABLE=TRUE\n");
  test::set_variable(facts, "FLASH_ATTENTION_TRITON_AMD_ENABLE", "TRUE");
  facts.python.comfyui = std::vector<std::string>{"/home/u/ComfyUI"};
  const Finding finding = finding_of("python.attention-packages", facts);
  CHECK(finding.status == Status::info);
  CHECK(contains(finding.observed, "flash-attn 2.8.3; ComfyUI in /home/u/ComfyUI"));
}

TEST_CASE("python: what --python names in vain is said so") {
  PythonEnvironment environment;
  environment.prefix = "/home/u/wrong";
  environment.found = PythonFound::named;
  environment.interpreter_there = false;
  environment.sites = Fact<std::vector<PythonSite>>::unknown("/home/u/wrong: no such file or directory");
  const Finding finding = finding_of("python.environment-broken", with(environment));
  CHECK(finding.status == Status::warn);
  CHECK(finding.observed == "there is no Python at /home/u/wrong");
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
  CHECK(finding_of("python.torch-target", facts).status == Status::pass);
  facts.gpus.amd.value().front().target = "gfx1030"s;
  torch_of(facts.python.environments.value().front()).code_targets = std::vector<std::string>{"gfx1030"};
  CHECK(finding_of("python.torch-target", facts).status == Status::info);
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

  environment.packages = std::vector<PythonPackage>{package("triton", "3.6.0+rocm7.10.0")};
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

TEST_CASE("python: SageAttention 2 is warned of, versions that others made for ROCm are not") {
  const auto status = [](std::string version, std::string home = "") {
    return finding_of("python.sageattention", with(with_sageattention(std::move(version), true, std::move(home)))).status;
  };
  CHECK(status("1.0.6") == Status::pass);
  CHECK(status("2.2.0") == Status::warn);
  CHECK(status("2.2.0", "https://github.com/thu-ml/SageAttention") == Status::warn);
  CHECK(status("2.2.0", "https://github.com/someone/SageAttention-rdna3") == Status::info);
  CHECK(status("2.2.0+rocm7") == Status::info);
  CHECK(status("main") == Status::skip);

  PythonEnvironment fork = good_venv();
  fork.packages.value().push_back(package("rdna4-sageattention", "0.3.0"));
  CHECK(finding_of("python.sageattention", with(fork)).status == Status::info);
}

TEST_CASE("python: the kernel of SageAttention 1 is judged by its text, not by its version") {
  const Finding wrong = finding_of("python.sageattention", with(with_sageattention("1.0.6", false)));
  CHECK(wrong.status == Status::warn);
  CHECK(contains(commands_of(wrong), "@sageattention-1\n"));
  CHECK(finding_of("python.sageattention", with(with_sageattention("1.0.6", Fact<bool>()))).status == Status::skip);
}

TEST_CASE("python: the way out of SageAttention is the one that works on this GPU") {
  const auto commands = [](const char* target) {
    Facts facts = with(with_sageattention("2.2.0", true));
    facts.gpus.amd.value().front().target = std::string(target);
    return commands_of(finding_of("python.sageattention", facts));
  };
  CHECK(contains(commands("gfx1201"), "sage-doctor build --install\n"));
  CHECK(contains(commands("gfx1201"), "uninstall -y sageattention\nsage-doctor build"));
  CHECK_FALSE(contains(commands("gfx1030"), "sage-doctor build"));
  CHECK(contains(commands("gfx1030"), "@sageattention-1\n"));
  CHECK(contains(commands_of(finding_of("python.sageattention", with(with_sageattention("1.0.6", false)))),
                 "sage-doctor build --install\n"));
}

TEST_CASE("python: sources of SageAttention that know nvcc alone are warned of") {
  const auto judge = [](Fact<std::string> version, Fact<bool> knows_hip) {
    Facts facts = with(good_venv());
    SageSources sources;
    sources.folder = "/home/u/SageAttention";
    sources.version = std::move(version);
    sources.knows_hip = std::move(knows_hip);
    facts.python.sage_sources = std::vector<SageSources>{sources};
    return finding_of("python.sage-sources", facts);
  };
  const Finding upstream = judge("2.2.0"s, false);
  CHECK(upstream.status == Status::warn);
  CHECK(upstream.subject == "/home/u/SageAttention");
  CHECK(contains(commands_of(upstream), "sage-doctor build --install\n"));
  CHECK(judge("2.2.0"s, true).status == Status::info);
  CHECK(judge("1.0.6"s, false).status == Status::pass);
  CHECK(judge(""s, false).status == Status::info);
  CHECK(judge(Fact<std::string>::unknown("too large"), Fact<bool>::unknown("too large")).status == Status::skip);
  CHECK(finding_of("python.sage-sources", with(good_venv())).status == Status::skip);
}

TEST_CASE("toolchain: only headers of an old PyTorch are warned of, and only under a newer HIP") {
  const auto status = [](std::string torch_version, std::string compiler_version) {
    PythonEnvironment environment = good_venv();
    torch_of(environment).version = std::move(torch_version);
    Facts facts = with(environment);
    TorchRocmHome home;
    home.torch_folder = site + "/torch";
    home.path = std::optional<std::string>("/opt/rocm");
    facts.toolchains.torch_rocm_homes = std::vector<TorchRocmHome>{home};
    Toolchain hipcc;
    hipcc.path = "/opt/rocm/bin/hipcc";
    hipcc.kind = CompilerKind::hipcc;
    hipcc.root = "/opt/rocm-" + compiler_version;
    if (!compiler_version.empty()) hipcc.rocm_version = compiler_version;
    facts.toolchains.compilers = std::vector<Toolchain>{hipcc};
    return finding_of("toolchain.torch-headers", facts).status;
  };
  CHECK(status("2.1.2+rocm5.6", "6.0.0") == Status::warn);
  CHECK(status("2.1.2+rocm5.6", "5.6.1") == Status::pass);
  CHECK(status("2.1.2+rocm5.6", "5.4.0") == Status::pass);
  CHECK(status("2.9.1+rocm6.4", "7.2.0") == Status::info);
  CHECK(status("2.1.2+rocm5.6", "") == Status::skip);
  CHECK(finding_of("toolchain.torch-headers", with(good_venv())).status == Status::skip);
}

TEST_CASE("python: an environment without PyTorch is worth a warning only where another one has it") {
  PythonEnvironment empty = good_venv();
  empty.torch = std::vector<TorchInstall>{};
  Facts facts = with(empty);
  CHECK(finding_of("python.torch-present", facts).status == Status::info);
  facts.python.environments.value().push_back(good_venv());
  CHECK(finding_of("python.torch-present", facts).status == Status::warn);
}

TEST_CASE("SageAttention 1 with the Tritons that fall over it is mentioned, on the GPUs concerned") {
  const auto status = [](const char* triton, const char* target) {
    PythonEnvironment environment = with_sageattention("1.0.6", true);
    std::erase_if(environment.packages.value(), [](const PythonPackage& one) { return contains(one.name, "triton"); });
    environment.packages.value().push_back(package("triton-rocm", triton));
    Facts facts = with(environment);
    facts.gpus.amd.value().front().target = std::string(target);
    return finding_of("python.sageattention", facts).status;
  };
  CHECK(status("3.6.0", "gfx1200") == Status::info);
  CHECK(status("3.5.1+rocm7.2.0.gita272dfa8", "gfx1030") == Status::info);
  CHECK(status("3.4.0", "gfx1200") == Status::pass);
  CHECK(status("3.7.0", "gfx1200") == Status::pass);
  CHECK(status("3.6.0", "gfx1100") == Status::pass);

  Facts facts = with(with_sageattention("1.0.6", true));
  facts.gpus.amd.value().front().target = Fact<std::string>::unknown("not known");
  CHECK(finding_of("python.sageattention", facts).status == Status::skip);
}

TEST_CASE("a Triton that does not ask the ROCm wheels finds their runtime after PyTorch alone") {
  TritonInstall triton;
  triton.folder = site + "/triton";
  triton.version = "3.5.1"s;
  triton.takes_sdk_first = false;
  triton.asks_hipconfig = true;
  PythonEnvironment environment = thin_venv();
  const auto status = [&](const char* hip_path) {
    environment.triton = std::vector<TritonInstall>{triton};
    Facts facts = with(environment);
    facts.environment.named_paths = std::vector<NamedPath>{};
    test::set_variable(facts, "TRITON_LIBHIP_PATH", "");
    test::set_variable(facts, "HIP_PATH", hip_path);
    return finding_of("python.triton-libhip", facts).status;
  };
  CHECK(status("") == Status::info);
  CHECK(status("/opt/rocm") == Status::pass);
  triton.asks_hipconfig = false;
  CHECK(status("/opt/rocm") == Status::info);
  triton.takes_sdk_first = Fact<bool>();
  CHECK(status("") == Status::skip);
  triton.takes_sdk_first = true;
  CHECK(status("") == Status::pass);
  triton.takes_sdk_first = false;
  environment.devel = DevelState::expanded;
  CHECK(status("") == Status::pass);
}

TEST_CASE("a number in TRITON_LIBHIP_PATH is wrong for the Tritons that refuse it alone") {
  TritonInstall triton;
  triton.folder = site + "/triton";
  PythonEnvironment environment = good_venv();
  const auto status = [&](Fact<bool> takes, bool there) {
    triton.takes_numbered_name = std::move(takes);
    environment.triton = std::vector<TritonInstall>{triton};
    Facts facts = with(environment);
    test::set_variable(facts, "TRITON_LIBHIP_PATH", "/opt/rocm/lib/libamdhip64.so.7");
    NamedPath named;
    named.variable = "TRITON_LIBHIP_PATH";
    named.path = "/opt/rocm/lib/libamdhip64.so.7";
    named.exists = there;
    facts.environment.named_paths.value().push_back(named);
    return finding_of("python.triton-libhip", facts).status;
  };
  CHECK(status(true, true) == Status::pass);
  CHECK(status(true, false) == Status::fail);
  CHECK(status(false, true) == Status::fail);
  CHECK(status(Fact<bool>::unknown("no source"), true) == Status::skip);
}

TEST_CASE("Triton's parts: device libraries, and a linker for those that start one") {
  TritonInstall triton;
  triton.folder = site + "/triton";
  triton.version = std::string("3.4.0");
  triton.starts_linker = true;
  triton.linker = std::string("/usr/bin/ld.lld");
  triton.bitcode = std::vector<std::string>{"ockl.bc", "ocml.bc"};
  const auto found = [](const TritonInstall& one) {
    PythonEnvironment environment = with_sageattention("1.0.6", true);
    environment.triton = std::vector<TritonInstall>{one};
    return finding_of("python.triton-parts", with(environment));
  };
  CHECK(found(triton).status == Status::pass);
  triton.linker = std::string();
  const Finding none = found(triton);
  CHECK(none.status == Status::warn);
  CHECK(contains(none.observed, "Triton 3.4.0 starts the linker ld.lld"));
  CHECK(contains(commands_of(none), "apt install lld"));
  triton.starts_linker = false;
  CHECK(found(triton).status == Status::pass);
  triton.bitcode = std::vector<std::string>{"ockl.bc"};
  CHECK(contains(found(triton).observed, "lacks its device libraries: ocml.bc"));
  triton.starts_linker = Fact<bool>::unknown("no source");
  CHECK(found(triton).status == Status::skip);
}

}  // namespace sage
