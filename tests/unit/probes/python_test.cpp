#include "probes/python.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>

#include "probes/torch_targets.hpp"
#include "tests/support/memory_host.hpp"

namespace sage {
namespace {

const std::string venv = "/home/u/venv";
const std::string venv_site = venv + "/lib/python3.12/site-packages";

MemoryHost machine() {
  MemoryHost host;
  host.identity.home = "/home/u";
  host.identity.working_folder = "/home/u/project";
  host.file("/usr/bin/python3.12", "elf");
  host.link("/usr/bin/python3", "python3.12");
  host.folder("/usr/lib/python3/dist-packages");
  return host;
}

void add_venv(MemoryHost& host, const std::string& prefix = venv, const std::string& more = "") {
  host.file(prefix + "/pyvenv.cfg", "home = /usr/bin\nVersion = 3.12.3\n" + more);
  host.link(prefix + "/bin/python3", "/usr/bin/python3.12");
  host.folder(prefix + "/lib/python3.12/site-packages");
}

void add_torch(MemoryHost& host, const std::string& site, const std::string& version, const std::string& hip,
               const std::string& cuda = "None") {
  host.file(site + "/torch/version.py",
            "__version__ = '" + version + "'\ncuda: Optional[str] = " + cuda + "\nhip: Optional[str] = " + hip + "\n");
  host.file(site + "/torch/lib/libtorch_cpu.so", "");
  host.file(site + "/torch-" + version + ".dist-info/METADATA", "Name: torch\nVersion: " + version + "\n\ntext\n");
  host.file(site + "/torch-" + version + ".dist-info/WHEEL", "Tag: cp312-cp312-manylinux_2_28_x86_64\n");
}

std::vector<PythonEnvironment> environments(const MemoryHost& host) {
  const Python python = probe_python(host, {});
  REQUIRE(python.environments.known());
  return *python.environments;
}

std::vector<std::string> site_paths(const PythonEnvironment& environment) {
  REQUIRE(environment.sites.known());
  std::vector<std::string> paths;
  for (const PythonSite& site : *environment.sites) paths.push_back(site.path);
  return paths;
}

const TorchInstall& only_torch(const PythonEnvironment& environment) {
  REQUIRE(environment.torch.known());
  REQUIRE(environment.torch->size() == 1);
  return environment.torch->front();
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("without any Python the list is known and empty") {
  CHECK(environments(MemoryHost()).empty());
}

TEST_CASE("the activated environment comes first, then conda, the working folder's and PATH's, each once") {
  MemoryHost host = machine();
  add_venv(host);
  add_venv(host, "/home/u/project/.venv", "uv = 0.9.2\n");
  host.folder("/opt/conda/conda-meta");
  host.file("/opt/conda/bin/python3.11", "elf");
  host.link("/opt/conda/bin/python3", "python3.11");
  host.variables = {{"VIRTUAL_ENV", venv}, {"CONDA_PREFIX", "/opt/conda/"}, {"PATH", venv + "/bin:relative:/usr/bin"}};

  const auto found = environments(host);
  REQUIRE(found.size() == 3);
  CHECK(found[0].prefix == venv);
  CHECK(found[0].found.is(PythonFound::virtual_env));
  CHECK(found[0].kind.is(PythonKind::venv));
  CHECK(found[0].version.is("3.12"));
  CHECK(found[1].prefix == "/opt/conda");
  CHECK(found[1].kind.is(PythonKind::conda));
  CHECK(found[1].version.is("3.11"));
  CHECK(found[2].found.is(PythonFound::working_folder));
  CHECK(found[2].kind.is(PythonKind::uv));
}

TEST_CASE("pyvenv.cfg is looked for beside the executable before its links are followed") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"PATH", venv + "/bin"}};
  const auto found = environments(host);
  REQUIRE(found.size() == 1);
  CHECK(found[0].prefix == venv);
  CHECK(found[0].found.is(PythonFound::path));
}

TEST_CASE("Debian's own Python searches the user's packages, then its dist-packages") {
  MemoryHost host = machine();
  host.folder("/home/u/.local/lib/python3.12/site-packages");
  host.folder("/usr/local/lib/python3.12/dist-packages");
  host.variables = {{"PATH", "/usr/bin"}};
  const auto found = environments(host);
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind.is(PythonKind::system));
  CHECK(found[0].prefix == "/usr");
  CHECK(site_paths(found[0]) == Names{"/home/u/.local/lib/python3.12/site-packages",
                                      "/usr/local/lib/python3.12/dist-packages", "/usr/lib/python3/dist-packages"});

  host.variables["PYTHONNOUSERSITE"] = "1";
  CHECK(site_paths(environments(host)[0]).size() == 2);
}

TEST_CASE("a venv is closed unless its settings open it to the base interpreter") {
  MemoryHost host = machine();
  host.folder("/home/u/.local/lib/python3.12/site-packages");
  host.variables = {{"VIRTUAL_ENV", venv}, {"PYTHONPATH", "/home/u/extra:/gone"}};
  host.folder("/home/u/extra");
  add_venv(host);
  CHECK(site_paths(environments(host)[0]) == Names{"/home/u/extra", venv_site});

  add_venv(host, venv, "include-system-site-packages = true\n");
  CHECK(site_paths(environments(host)[0]) == Names{"/home/u/extra", venv_site,
                                                   "/home/u/.local/lib/python3.12/site-packages",
                                                   "/usr/lib/python3/dist-packages"});
}

TEST_CASE("lib64 that is a link to lib is one folder") {
  MemoryHost host = machine();
  add_venv(host);
  host.link(venv + "/lib64", "lib");
  host.variables = {{"VIRTUAL_ENV", venv}};
  CHECK(site_paths(environments(host)[0]) == Names{venv_site});
}

TEST_CASE("the folder tells a free-threaded interpreter") {
  MemoryHost host = machine();
  host.file(venv + "/pyvenv.cfg", "version_info = 3.13.1\n");
  host.folder(venv + "/lib/python3.13t/site-packages");
  host.variables = {{"VIRTUAL_ENV", venv}};
  CHECK(environments(host)[0].version.is("3.13t"));
  CHECK(site_paths(environments(host)[0]) == Names{venv + "/lib/python3.13t/site-packages"});
}

TEST_CASE("a link to an interpreter that is gone is told apart from one that was not looked for") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  CHECK(environments(host)[0].interpreter_there.is(true));
  host.link(venv + "/bin/python3", "/usr/bin/python3.10");
  CHECK(environments(host)[0].interpreter_there.is(false));
  host.entries.erase(venv + "/bin/python3");
  CHECK_FALSE(environments(host)[0].interpreter_there.known());
  host.variables["VIRTUAL_ENV"] = "/home/u/deleted";
  CHECK(environments(host)[0].interpreter_there.is(false));
}

TEST_CASE("a shim of pyenv leads to the version that is chosen") {
  MemoryHost host = machine();
  const std::string root = "/home/u/.pyenv";
  for (const char* version : {"3.11.7", "3.12.1"}) {
    host.file(root + "/versions/" + version + "/bin/python3." + std::string(version).substr(2, 2), "elf");
    host.link(root + "/versions/" + version + "/bin/python3", "python3." + std::string(version).substr(2, 2));
  }
  host.file(root + "/shims/python3", "#!/usr/bin/env bash\n");
  host.file(root + "/version", "3.11.7\n");
  host.variables = {{"PATH", root + "/shims:/usr/bin"}};
  REQUIRE(environments(host).size() == 1);
  CHECK(environments(host)[0].prefix == root + "/versions/3.11.7");
  CHECK(environments(host)[0].kind.is(PythonKind::pyenv));

  host.file("/home/u/.python-version", "# mine\n3.12.1\n");
  CHECK(environments(host)[0].prefix == root + "/versions/3.12.1");
  host.variables["PYENV_VERSION"] = "system";
  CHECK(environments(host)[0].prefix == "/usr");
  host.variables["PYENV_VERSION"] = "../../../evil";
  CHECK(environments(host)[0].prefix == "/usr");
}

TEST_CASE("a .pth file adds the folders that exist and is never executed") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  host.file(venv_site + "/a.pth", "# note\nimport os; os.system('x')\n/home/u/src\n/gone\ninside\n");
  host.folder("/home/u/src");
  host.file(venv_site + "/inside/b.pth", "/home/u/other\n");
  host.folder("/home/u/other");
  add_torch(host, "/home/u/src", "2.8.0", "'6.4.1'");
  const auto found = environments(host);
  CHECK(site_paths(found[0]) == Names{venv_site, "/home/u/src", venv_site + "/inside"});
  CHECK(only_torch(found[0]).site.is(SiteKind::pth));
}

TEST_CASE("a fat ROCm wheel is described by version.py, its libraries and its records") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  add_torch(host, venv_site, "2.9.1+rocm7.2", "'7.2.26015'");
  host.file(venv_site + "/torch/lib/libtorch_hip.so", "");
  host.file(venv_site + "/torch/lib/libamdhip64.so", "");
  host.file(venv_site + "/torch/lib/rocblas/library/TensileLibrary_lazy_gfx1201.dat", "");
  host.file(venv_site + "/torch/lib/rocblas/library/Kernels.so-000-gfx90a-xnack+.hsaco", "");
  const auto found = environments(host);
  const TorchInstall& torch = only_torch(found[0]);
  CHECK(torch.version.is("2.9.1+rocm7.2"));
  CHECK(torch.flavour.is(TorchFlavour::rocm));
  CHECK(torch.library_flavour.is(TorchFlavour::rocm));
  CHECK(torch.family.is(TorchFamily::fat));
  CHECK(torch.metadata_versions.is({"2.9.1+rocm7.2"}));
  CHECK(torch.wheel_tags.is({"cp312-cp312-manylinux_2_28_x86_64"}));
  CHECK(torch.rocblas_targets.is({"gfx1201", "gfx90a"}));
  CHECK(torch.editable.is(false));
}

TEST_CASE("a build without libraries of its own is thin when it asks for rocm, else lightweight") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  add_torch(host, venv_site, "2.12.0", "'7.14.60850'");
  host.file(venv_site + "/torch/lib/libtorch_hip.so", "");
  CHECK(only_torch(environments(host)[0]).family.is(TorchFamily::lightweight));

  const std::string metadata = venv_site + "/torch-2.12.0.dist-info/METADATA";
  host.file(metadata, "Version: 2.12.0\nRequires-Dist: rocm[libraries]==7.14.*\n\nRequires-Dist: not-this\n");
  const auto thin = environments(host);
  CHECK(only_torch(thin[0]).family.is(TorchFamily::thin));
  CHECK(only_torch(thin[0]).needs.is({"rocm[libraries]==7.14.*"}));

  host.unreadable(metadata, EACCES);
  CHECK_FALSE(only_torch(environments(host)[0]).family.known());
  host.file(venv_site + "/torch/_rocm_init.py", "");
  CHECK(only_torch(environments(host)[0]).family.is(TorchFamily::thin));
}

TEST_CASE("CUDA and CPU builds are told from a version.py that says nothing") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  add_torch(host, venv_site, "2.9.1+cu128", "None", "'12.8'");
  CHECK(only_torch(environments(host)[0]).flavour.is(TorchFlavour::cuda));
  add_torch(host, venv_site, "2.9.1+cpu", "None");
  CHECK(only_torch(environments(host)[0]).flavour.is(TorchFlavour::cpu));
  host.file(venv_site + "/torch/version.py", "__version__ = '2.9.1'\n");
  CHECK_FALSE(only_torch(environments(host)[0]).flavour.known());
}

TEST_CASE("only records of interest are listed, METADATA of others is not read") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  for (const char* name : {"ROCm_SDK_libraries_gfx120X_all-7.9.0.dist-info", "numpy-2.1.0.dist-info", "~orch",
                           "triton-3.5.0-py3.12.egg-info", "torch_geometric-2.0.dist-info", "~umpy"}) {
    host.file(venv_site + "/" + name + "/METADATA", "Version: 1\n");
  }
  const auto found = environments(host);
  REQUIRE(found[0].packages.known());
  REQUIRE(found[0].packages->size() == 2);
  CHECK((*found[0].packages)[0].name == "rocm-sdk-libraries-gfx120x-all");
  CHECK((*found[0].packages)[0].version.is("7.9.0"));
  CHECK((*found[0].packages)[1].name == "triton");
  CHECK((*found[0].packages)[1].version.is("3.5.0"));
  CHECK(found[0].leftovers.is({venv_site + "/~orch"}));
  for (const std::string& path : host.read) CHECK_FALSE(path.ends_with("/METADATA"));
}

TEST_CASE("the state of rocm-sdk-devel follows from its archive and its folder") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  CHECK(environments(host)[0].devel.is(DevelState::absent));
  host.file(venv_site + "/rocm_sdk_devel/_devel.tar.xz", "");
  CHECK(environments(host)[0].devel.is(DevelState::not_expanded));
  host.file(venv_site + "/_rocm_sdk_devel/__init__.py", "");
  CHECK(environments(host)[0].devel.is(DevelState::interrupted));
  host.entries.erase(venv_site + "/rocm_sdk_devel/_devel.tar.xz");
  host.folder(venv_site + "/rocm_sdk_devel");
  CHECK(environments(host)[0].devel.is(DevelState::expanded));
}

TEST_CASE("site-packages that can't be listed leave everything in them unknown") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  host.unreadable(venv_site, EACCES);
  const auto found = environments(host);
  CHECK_FALSE(found[0].torch.known());
  CHECK(found[0].torch.why_unknown().number == EACCES);
  CHECK_FALSE(found[0].packages.known());
  CHECK_FALSE(found[0].devel.known());
}

TEST_CASE("each site is listed once however much is in it") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  for (int i = 0; i < 300; ++i) host.folder(venv_site + "/package" + std::to_string(i) + "-1.0.dist-info");
  host.listed.clear();
  host.read.clear();
  (void)environments(host);
  CHECK(host.listed == Names{venv_site});
  CHECK(host.read == Names{venv + "/pyvenv.cfg", "/home/u/.conda/environments.txt"});
}

TEST_CASE("what the user names comes first: an interpreter, a command, a folder; anything else with its reason") {
  MemoryHost host = machine();
  add_venv(host);
  add_venv(host, "/home/u/other");
  host.folder("/home/u/empty");
  host.variables = {{"VIRTUAL_ENV", venv}, {"PATH", "/usr/bin"}};
  const auto first = [&](const std::string& named) {
    ProbeOptions options;
    options.python = named;
    const Python python = probe_python(host, options);
    REQUIRE(python.environments.known());
    return python.environments->front();
  };
  CHECK(first("/home/u/other/").prefix == "/home/u/other");
  CHECK(first("/home/u/other/bin/python3").prefix == "/home/u/other");
  CHECK(first("../other").interpreter_there.is(true));
  CHECK(first("python3.12").prefix == "/usr");
  CHECK(first("/usr").prefix == "/usr");
  CHECK(first("/usr").found.is(PythonFound::named));
  for (const char* wrong : {"/home/u/gone", "/home/u/empty", "python9"}) {
    const PythonEnvironment environment = first(wrong);
    CHECK(environment.interpreter_there.is(false));
    CHECK_FALSE(environment.sites.known());
    CHECK_FALSE(environment.torch.known());
  }
}

TEST_CASE("shims of asdf and mise lead to the version that their files choose") {
  MemoryHost host = machine();
  const std::string root = "/home/u/.local/share/mise";
  for (const char* version : {"3.11.9", "3.12.4", "3.12.10"}) {
    const std::string minor = std::string(version).substr(0, 4);
    host.file(root + "/installs/python/" + version + "/bin/python" + minor, "elf");
    host.link(root + "/installs/python/" + version + "/bin/python3", "python" + minor);
  }
  host.file(root + "/shims/python3", "mise");
  host.variables = {{"PATH", root + "/shims:/usr/bin"}};
  CHECK(environments(host)[0].prefix == "/usr");
  host.file("/home/u/.config/mise/config.toml", "[tools]\nnode = \"22\"\npython = \"3.11.9\"\n");
  CHECK(environments(host)[0].prefix == root + "/installs/python/3.11.9");
  host.file("/home/u/.tool-versions", "nodejs 20.1\npython 3.12\n");
  CHECK(environments(host)[0].prefix == root + "/installs/python/3.12.10");
  host.file("/home/u/project/mise.toml", "[tools]\npython = ['3.12.4', '3.11.9']\n");
  CHECK(environments(host)[0].prefix == root + "/installs/python/3.12.4");
  host.file("/home/u/project/mise.toml", "[tools]\npython = \"../../../../evil\"\n");
  CHECK(environments(host)[0].prefix == "/usr");
}

TEST_CASE("drives of Windows in PATH are not touched, and conda's list comes last") {
  MemoryHost host = machine();
  host.mount_table = std::vector<Mount>{{"/", "ext4"}, {"/mnt/c", "9p"}};
  host.file("/mnt/c/Python/python3", "exe");
  host.failing("/mnt/c/Python", EIO);
  host.variables = {{"PATH", "/mnt/c/Python:/usr/bin"}};
  host.file("/home/u/.conda/environments.txt", "/opt/conda\n/opt/gone\nrelative\n/mnt/c/conda\n");
  host.folder("/opt/conda/conda-meta");
  host.file("/opt/conda/bin/python3", "elf");
  host.folder("/opt/conda/lib/python3.11");
  const auto found = environments(host);
  REQUIRE(found.size() == 2);
  CHECK(found[0].prefix == "/usr");
  CHECK(found[1].prefix == "/opt/conda");
  CHECK(found[1].found.is(PythonFound::conda_list));
}

TEST_CASE("a development install of torch is judged by its tree and the record in the site") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  add_torch(host, "/home/u/pytorch", "2.10.0a0+git1a2b3c4", "'7.2.26015'");
  host.entries.erase("/home/u/pytorch/torch-2.10.0a0+git1a2b3c4.dist-info/METADATA");
  host.entries.erase("/home/u/pytorch/torch-2.10.0a0+git1a2b3c4.dist-info/WHEEL");
  host.file("/home/u/pytorch/torch/lib/libtorch_hip.so", "");
  host.file(venv_site + "/torch-2.10.0a0+git1a2b3c4.dist-info/METADATA", "Version: 2.10.0a0+git1a2b3c4\n\n");
  host.file(venv_site + "/__editable___torch_2_10_0a0_finder.py",
            "MAPPING: dict[str, str] = {'functorch': '/x', 'torch': '/home/u/pytorch/torch'}\nraise SystemExit\n");
  const auto found = environments(host);
  const TorchInstall& torch = only_torch(found[0]);
  CHECK(torch.folder == "/home/u/pytorch/torch");
  CHECK(torch.editable.is(true));
  CHECK(torch.metadata_versions.is({"2.10.0a0+git1a2b3c4"}));
  CHECK(torch.family.is(TorchFamily::source));
}

TEST_CASE("a lightweight wheel is told from a build of one's own") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  add_torch(host, venv_site, "2.9.0a0+git1a2b3c4", "'7.2.26015'");
  host.file(venv_site + "/torch/lib/libtorch_hip.so", "");
  CHECK(only_torch(environments(host)[0]).family.is(TorchFamily::source));
  host.file(venv_site + "/torch/lib/libmagma.so", "");
  CHECK(only_torch(environments(host)[0]).family.is(TorchFamily::lightweight));
}

TEST_CASE("libtorch_hip.so tells targets, runtime and family, and its RPATH outweighs what lies around") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  add_torch(host, venv_site, "2.9.1", "'7.2.26015'");
  const std::string library = venv_site + "/torch/lib/libtorch_hip.so";
  host.file(library, "");
  host.file(venv_site + "/torch/lib/libamdhip64.so", "");
  ElfFacts elf;
  elf.needed = {"libc.so.6", "libamdhip64.so.7"};
  elf.device_code = ElfDeviceCode{};
  elf.device_code->targets = {"gfx1201", "gfx90a:xnack-"};
  host.elf_files[library] = elf;
  const auto torch_now = [&] { return only_torch(environments(host)[0]); };
  CHECK(torch_now().code_targets.is({"gfx1201", "gfx90a:xnack-"}));
  CHECK(torch_now().code_in_file.is(true));
  CHECK(torch_now().needed_hip.is({"libamdhip64.so.7"}));
  CHECK(torch_now().family.is(TorchFamily::fat));

  host.elf_files[library].rpath = {"$ORIGIN/../../_rocm_sdk_core/lib", "$ORIGIN"};
  CHECK(torch_now().family.is(TorchFamily::thin));
  CHECK(torch_now().other_families.is({venv_site + "/torch/lib/libamdhip64.so"}));

  host.elf_files[library].device_code->complete = false;
  CHECK_FALSE(torch_now().code_targets.known());
  host.elf_files[library].device_code.reset();
  CHECK_FALSE(torch_now().code_in_file.known());
}

TEST_CASE("data of hipBLASLt, AOTriton and split builds are read from names") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  add_torch(host, venv_site, "2.9.1", "'7.2.26015'");
  host.file(venv_site + "/torch/lib/libtorch_hip.so", "");
  CHECK(only_torch(environments(host)[0]).aotriton_images.is({}));
  host.folder(venv_site + "/torch/lib/aotriton.images/amd-gfx11xx");
  host.file(venv_site + "/torch/lib/hipblaslt/library/Tensile_gfx942.co", "");
  host.file(venv_site + "/torch/.kpack/torch_gfx1151.kpack", "");
  host.file(venv_site + "/torch/lib/libnuma.so.1", "");
  const auto with_data = environments(host);
  CHECK(only_torch(with_data[0]).aotriton_images.is({"amd-gfx11xx"}));
  CHECK(only_torch(with_data[0]).hipblaslt_targets.is({"gfx942"}));
  CHECK(only_torch(with_data[0]).kpack_targets.is({"gfx1151"}));
  CHECK(only_torch(with_data[0]).numa_without_alias.is(true));
  host.file(venv_site + "/torch/lib/libnuma.so", "");
  CHECK(only_torch(environments(host)[0]).numa_without_alias.is(false));

  host.file(venv_site + "/_rocm_sdk_libraries_gfx120X_all/lib/hipblaslt/library/Tensile_gfx1200.co", "");
  CHECK(only_torch(environments(host)[0]).hipblaslt_targets.is({"gfx1200"}));
}

TEST_CASE("files of the SDK wheels: kpacks, links to nothing, copies and missing bitcode") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  add_torch(host, venv_site, "2.11.0", "'7.13.0'");
  const std::string core = venv_site + "/_rocm_sdk_core/lib";
  const std::string devel = venv_site + "/_rocm_sdk_devel/lib";
  const std::string libraries = venv_site + "/_rocm_sdk_libraries";
  const auto hard_link = [&](const std::string& path, std::uint64_t inode) {
    host.file(path, "elf");
    host.entries[path].status.inode = inode;
  };
  hard_link(core + "/libamdhip64.so.7", 7);
  hard_link(devel + "/libamdhip64.so.7", 7);
  host.file(core + "/llvm/amdgcn/bitcode/ocml.bc", "");
  host.file(devel + "/llvm/amdgcn/bitcode/ocml.bc", "");
  host.file(venv_site + "/_rocm_sdk_devel/__init__.py", "");
  host.folder(venv_site + "/rocm_sdk_devel");
  host.file(libraries + "/.kpack/blas_lib_gfx1201.kpack", "");
  host.file(libraries + "/.devel_links/gfx1100.json", "");
  host.file(libraries + "/lib/librocblas.so.5", "");
  host.elf_files[libraries + "/lib/librocblas.so.5"].device_code = ElfDeviceCode{false, false, true, {}};
  const auto sdk = [&] { return environments(host)[0].sdk; };
  CHECK(sdk().kpack_targets.is({"gfx1100", "gfx1201"}));
  CHECK(sdk().code_in_file.is(false));
  CHECK(sdk().dangling.is({}));
  CHECK(sdk().copied.is({}));
  CHECK(sdk().missing_bitcode.is({}));

  hard_link(devel + "/libamdhip64.so.7", 8);
  host.file(core + "/llvm/amdgcn/bitcode/oclc_daz_opt_on.bc", "");
  host.link(devel + "/libhiprtc.so", "libhiprtc.so.9");
  CHECK(sdk().copied.is({devel + "/libamdhip64.so.7"}));
  CHECK(sdk().missing_bitcode.is({"oclc_daz_opt_on.bc"}));
  CHECK(sdk().dangling.is({devel + "/libhiprtc.so"}));
}

TEST_CASE("SageAttention's kernel and home page are read, ComfyUI is seen in the working folder") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  CHECK(environments(host)[0].sage->empty());
  const std::string kernel = venv_site + "/sageattention/attn_qk_int8_per_block.py";
  host.file(kernel, "k_mask = x\nk = tl.load(K_ptrs, mask = k_mask)\n");
  host.file(venv_site + "/sageattention-1.0.6.dist-info/METADATA",
            "Name: sageattention\nHome-page: https://github.com/thu-ml/SageAttention\n\nHome-page: https://no\n");
  const auto sage = [&] {
    const auto found = environments(host);
    REQUIRE(found[0].sage.known());
    REQUIRE(found[0].sage->size() == 1);
    return found[0].sage->front();
  };
  CHECK(sage().masks_tail.is(false));
  CHECK(sage().home_pages.is({"https://github.com/thu-ml/SageAttention"}));
  host.file(kernel, "k = tl.load(K_ptrs, mask=k_mask)\nqk += tl.where( k_mask, 0, -1.0e6)\n");
  CHECK(sage().masks_tail.is(true));
  host.file(kernel, "another kernel\n");
  CHECK_FALSE(sage().masks_tail.known());

  host.file("/home/u/project/ComfyUI/comfy/model_management.py", "");
  CHECK(probe_python(host, {}).comfyui.is({"/home/u/project/ComfyUI"}));
}

TEST_CASE("sources of SageAttention in the working folder: their version, and whether their build knows ROCm") {
  MemoryHost host = machine();
  add_venv(host);
  const auto sources = [&] { return *probe_python(host, {}).sage_sources; };
  CHECK(sources().empty());
  const std::string folder = "/home/u/project/SageAttention";
  host.file(folder + "/sageattention/core.py", "");
  REQUIRE(sources().size() == 1);
  CHECK(sources().front().folder == folder);
  CHECK_FALSE(sources().front().version.known());
  host.file(folder + "/setup.py", "# relationship of chips\nsetup(\n    name='sageattention', \n    version='2.2.0' + suffix,\n)\n");
  CHECK(sources().front().version.is("2.2.0"));
  CHECK(sources().front().knows_hip.is(false));
  host.file(folder + "/setup.py", "IS_ROCM = torch.version.hip is not None\n    version = \"2.2.0\"\n");
  CHECK(sources().front().version.is("2.2.0"));
  CHECK(sources().front().knows_hip.is(true));
  host.file(folder + "/setup.py", "version='2.2");
  CHECK(sources().front().version.is(""));
}

TEST_CASE("records without METADATA, huge ones and weird names leave facts unknown and end nothing") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  add_torch(host, venv_site, "2.9.1", "'7.2.26015'");
  host.file(venv_site + "/torch/lib/libtorch_hip.so", "");
  const std::string info = venv_site + "/torch-2.9.1.dist-info";
  std::string record;
  for (int i = 0; i < 200000; ++i) record += "torch/file.py,,\n";
  host.file(info + "/RECORD", record);
  host.file(info + "/METADATA", "Version: 2.9.1\n\n" + std::string(1024 * 1024, 'x'));
  const auto huge = environments(host);
  CHECK(only_torch(huge[0]).metadata_versions.why_unknown().number == EFBIG);
  CHECK(only_torch(huge[0]).flavour.is(TorchFlavour::rocm));
  CHECK(std::find(host.read.begin(), host.read.end(), info + "/RECORD") == host.read.end());

  host.entries.erase(info + "/METADATA");
  CHECK(only_torch(environments(host)[0]).metadata_versions.why_unknown().number == ENOENT);

  host.file(venv_site + "/torch/version.py", std::string("__version__ = '\0\x1b[31m'\nhip =\n= = =\ncuda: ", 38));
  host.folder(venv_site + "/triton-\x1b[31m3\n.dist-info");
  host.folder(venv_site + "/-.dist-info");
  host.folder(venv_site + "/.dist-info");
  CHECK(only_torch(environments(host)[0]).flavour.known());
  CHECK(environments(host)[0].packages->size() == 2);
}

TEST_CASE("a .pth file may hold zeros, code, itself and links in a circle") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  host.link(venv_site + "/loop", "loop");
  host.file(venv_site + "/a.pth", std::string("/tmp\0x\nimport\tos\nloop\n.\n/home/u/src\n/home/u/src\n", 44));
  host.folder("/home/u/src");
  CHECK(site_paths(environments(host)[0]).size() <= 3);
  std::string many;
  for (int i = 0; i < 1000; ++i) {
    host.folder("/home/u/many/" + std::to_string(i));
    many += "/home/u/many/" + std::to_string(i) + "\n";
  }
  host.file(venv_site + "/b.pth", many);
  CHECK(site_paths(environments(host)[0]).size() <= 80);
}

TEST_CASE("a hundred thousand names in site-packages cost one listing") {
  MemoryHost host = machine();
  add_venv(host);
  host.variables = {{"VIRTUAL_ENV", venv}};
  for (int i = 0; i < 100000; ++i) host.entries[venv_site + "/p" + std::to_string(i)];
  host.listed.clear();
  host.read.clear();
  const auto found = environments(host);
  REQUIRE(found[0].packages.known());
  CHECK(found[0].packages->empty());
  CHECK(host.listed == Names{venv_site});
}

TEST_CASE("targets are read from file names whatever surrounds them") {
  CHECK(targets_in_names({"a_gfx942.co", "b-gfx90a-xnack+.hsaco", "gfx", "gfx12", "gfx1201x", "gfx942"}) ==
        Names{"gfx1201", "gfx90a", "gfx942"});
}

}  // namespace sage
