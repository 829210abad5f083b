#include "probes/python.hpp"

#include <doctest/doctest.h>

#include <cerrno>

#include "probes/torch_install.hpp"
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
  const Python python = probe_python(host);
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
  CHECK(host.read == Names{venv + "/pyvenv.cfg"});
}

TEST_CASE("targets are read from file names whatever surrounds them") {
  CHECK(targets_in_names({"a_gfx942.co", "b-gfx90a-xnack+.hsaco", "gfx", "gfx12", "gfx1201x", "gfx942"}) ==
        Names{"gfx1201", "gfx90a", "gfx942"});
}

}  // namespace sage
