#include "probes/toolchains.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "probes/compiler_parts.hpp"
#include "probes/python.hpp"
#include "tests/support/memory_host.hpp"

namespace sage {
namespace {

const std::string venv = "/home/u/venv";
const std::string site = venv + "/lib/python3.12/site-packages";

/// The hipcc packages of Debian 12, as they lie on the disk.
MemoryHost debian() {
  MemoryHost host;
  host.variables["PATH"] = "/usr/local/bin:/usr/bin:/bin";
  host.link("/bin", "usr/bin");
  host.file("/usr/bin/hipcc", "#!/usr/bin/env perl\n");
  host.file("/usr/bin/hipcc.pl", "#!/usr/bin/env perl\n    $HIPCC=\"$HIP_CLANG_PATH/clang++-15\" . $execExtension;\n");
  host.file("/usr/share/hip/version", "# cmake\nHIP_VERSION_MAJOR=5\nHIP_VERSION_MINOR=2\nHIP_VERSION_PATCH=21153\n");
  host.file("/usr/include/hip/hip_runtime.h", "");
  for (const char* name : {"ocml.bc", "ockl.bc", "oclc_isa_version_90a.bc", "oclc_isa_version_1030.bc"}) {
    host.file(std::string("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/") + name, "");
  }
  host.file("/usr/lib/llvm-15/bin/clang", "elf");
  host.link("/usr/lib/llvm-15/bin/clang++", "clang");
  host.link("/usr/bin/clang++-15", "../lib/llvm-15/bin/clang++");
  host.file("/usr/lib/llvm-15/bin/lld", "elf");
  host.file("/usr/lib/llvm-15/bin/clang-offload-bundler", "elf");
  host.folder("/usr/lib/llvm-15/lib/clang/15");
  host.folder("/usr/lib/llvm-15/lib/clang/15.0.6");
  return host;
}

void add_clang19(MemoryHost& host) {
  host.file("/usr/lib/llvm-19/bin/clang", "elf");
  host.link("/usr/lib/llvm-19/bin/clang++", "clang");
  host.link("/usr/bin/clang++-19", "../lib/llvm-19/bin/clang++");
  host.file("/usr/lib/llvm-19/bin/lld", "elf");
  host.folder("/usr/lib/llvm-19/lib/clang/19");
  host.folder("/usr/lib/clang/19");
  host.folder("/usr/lib/clang/19.1.7");
}

void add_rocm(MemoryHost& host) {
  host.link("/opt/rocm", "rocm-7.2.0");
  host.file("/opt/rocm-7.2.0/.info/version", "7.2.0-47\n");
  host.file("/opt/rocm-7.2.0/bin/hipcc", std::string(5000, 'x'));
  host.file("/opt/rocm-7.2.0/lib/llvm/bin/clang-22", "elf");
  host.link("/opt/rocm-7.2.0/lib/llvm/bin/clang++", "clang-22");
  host.link("/opt/rocm-7.2.0/lib/llvm/bin/amdclang++", "clang-22");
  host.file("/opt/rocm-7.2.0/lib/llvm/bin/lld", "elf");
  host.folder("/opt/rocm-7.2.0/lib/llvm/lib/clang/22");
  for (const char* name : {"ocml.bc", "ockl.bc", "oclc_isa_version_1201.bc", "oclc_isa_version_12-generic.bc"}) {
    host.file(std::string("/opt/rocm-7.2.0/amdgcn/bitcode/") + name, "");
  }
  host.file("/opt/rocm-7.2.0/include/hip/hip_runtime.h", "");
  host.file("/opt/rocm-7.2.0/include/hip/hip_version.h", "");
  host.file("/opt/rocm-7.2.0/include/thrust/complex.h", "");
  host.file("/opt/rocm-7.2.0/include/hipblas/hipblas.h", "");
  host.file("/opt/rocm-7.2.0/lib/libhiprtc.so.7", "elf");
}

void add_venv(MemoryHost& host) {
  host.variables["VIRTUAL_ENV"] = venv;
  host.variables["PATH"] = venv + "/bin:/usr/bin";
  host.file("/usr/bin/python3.12", "elf");
  host.file(venv + "/pyvenv.cfg", "home = /usr/bin\nversion = 3.12.3\n");
  host.link(venv + "/bin/python3", "/usr/bin/python3.12");
}

void add_torch(MemoryHost& host, const std::string& version, const std::string& hip) {
  host.file(site + "/torch/version.py", "__version__ = '" + version + "'\nhip = '" + hip + "'\n");
  host.file(site + "/torch/lib/libtorch_hip.so", "");
}

/// The wheel rocm-sdk-core 7.14 with its trampolines.
void add_sdk(MemoryHost& host) {
  const std::string core = site + "/_rocm_sdk_core";
  host.file(core + "/.info/version", "7.14.0\n");
  host.file(core + "/bin/hipcc", std::string(5000, 'x'));
  host.file(core + "/lib/llvm/bin/clang++", "starts clang");
  host.file(core + "/lib/llvm/bin/amdclang++", "starts amdclang++");
  host.file(core + "/lib/llvm/bin/lld", "elf");
  host.folder(core + "/lib/llvm/lib/clang/22");
  for (const char* name : {"ocml.bc", "ockl.bc", "oclc_isa_version_1201.bc"}) {
    host.file(core + "/lib/llvm/amdgcn/bitcode/" + name, "");
  }
  host.file(core + "/include/hip/hip_runtime.h", "");
  host.file(core + "/include/hip/hip_version.h", "");
  host.file(core + "/lib/libhiprtc.so.7", "elf");
  host.file(core + "/lib/libamd_comgr.so.3", "elf");
  host.file(venv + "/bin/hipcc",
            "#!" + venv + "/bin/python3\nimport sys\nfrom rocm_sdk_core._cli import hipcc\nsys.exit(hipcc())\n");
}

void add_devel(MemoryHost& host) {
  const std::string devel = site + "/_rocm_sdk_devel";
  host.file(site + "/rocm_sdk_devel/__init__.py", "");
  host.file(devel + "/__init__.py", "");
  host.file(devel + "/include/hip/hip_version.h", "");
  host.file(devel + "/include/hip/hip_runtime.h", "");
  host.file(devel + "/include/hipblas/hipblas.h", "");
}

Toolchains probe(const Host& host) {
  return probe_toolchains(host, {}, probe_python(host));
}

std::vector<std::string> paths(const Toolchains& facts) {
  REQUIRE(facts.compilers.known());
  std::vector<std::string> list;
  for (const Toolchain& compiler : *facts.compilers) list.push_back(compiler.path);
  return list;
}

const Toolchain& compiler_at(const Toolchains& facts, const std::string& path) {
  REQUIRE(facts.compilers.known());
  for (const Toolchain& compiler : *facts.compilers) {
    if (compiler.path == path) return compiler;
  }
  FAIL("no compiler " << path);
  return facts.compilers->front();
}

const TorchRocmHome& only_home(const Toolchains& facts) {
  REQUIRE(facts.torch_rocm_homes.known());
  REQUIRE(facts.torch_rocm_homes->size() == 1);
  return facts.torch_rocm_homes->front();
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a machine without compilers has a known and empty list") {
  const Toolchains facts = probe(MemoryHost());
  CHECK(paths(facts).empty());
  CHECK(facts.torch_rocm_homes->empty());
}

TEST_CASE("Debian's hipcc says by its script which clang does the work") {
  const MemoryHost host = debian();
  const Toolchains facts = probe(host);
  CHECK(paths(facts) == Names{"/usr/bin/hipcc", "/usr/bin/clang++-15"});
  const Toolchain& hipcc = compiler_at(facts, "/usr/bin/hipcc");
  CHECK(hipcc.kind.is(CompilerKind::hipcc));
  CHECK(hipcc.origin.is(ToolchainOrigin::distribution));
  CHECK(hipcc.root.is("/usr"));
  CHECK(hipcc.rocm_version.is("5.2"));
  CHECK(hipcc.version_source.is("/usr/share/hip/version"));
  CHECK(hipcc.clang.is("/usr/bin/clang++-15"));
  CHECK(hipcc.clang_version.is("15.0.6"));
  CHECK(hipcc.device_libraries.is("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"));
  CHECK(hipcc.device_targets.is({"gfx1030", "gfx90a"}));
  CHECK(hipcc.hip_headers.is("/usr/include"));
  CHECK(hipcc.headers.is({}));
  CHECK(hipcc.linker.is("/usr/lib/llvm-15/bin/lld"));
  CHECK(hipcc.bundler.is("/usr/lib/llvm-15/bin/clang-offload-bundler"));
  CHECK(hipcc.on_path.is(true));
  CHECK(hipcc.trampoline.is(false));
}

TEST_CASE("a clang of the distribution has no device libraries, and its version comes from the folder of links") {
  MemoryHost host = debian();
  add_clang19(host);
  const Toolchain clang = compiler_at(probe(host), "/usr/bin/clang++-19");
  CHECK(clang.kind.is(CompilerKind::clang));
  CHECK(clang.root.is("/usr/lib/llvm-19"));
  CHECK(clang.clang_version.is("19.1.7"));
  CHECK_FALSE(clang.rocm_version.known());
  CHECK(clang.device_libraries.is(""));
  CHECK(clang.bundler.is(""));
  CHECK(clang.linker.is("/usr/lib/llvm-19/bin/lld"));
  CHECK(clang.on_path.is(false));
}

TEST_CASE("a clang outside PATH is found in its own folder") {
  MemoryHost host;
  add_clang19(host);
  host.entries.erase("/usr/bin/clang++-19");
  CHECK(paths(probe(host)) == Names{"/usr/lib/llvm-19/bin/clang++"});
}

TEST_CASE("a ROCm tree gives hipcc, one clang under AMD's name and hipRTC") {
  MemoryHost host;
  add_rocm(host);
  const Toolchains facts = probe(host);
  const std::string root = "/opt/rocm-7.2.0";
  CHECK(paths(facts) == Names{root + "/bin/hipcc", root + "/lib/llvm/bin/amdclang++", root + "/lib/libhiprtc.so.7"});
  const Toolchain& hipcc = compiler_at(facts, root + "/bin/hipcc");
  CHECK(hipcc.origin.is(ToolchainOrigin::rocm_root));
  CHECK(hipcc.rocm_version.is("7.2.0"));
  CHECK(hipcc.clang.is(root + "/lib/llvm/bin/clang++"));
  CHECK(hipcc.clang_version.is("22"));
  CHECK(hipcc.device_targets.is({"gfx12-generic", "gfx1201"}));
  CHECK(hipcc.headers.is({"hipblas", "thrust"}));
  CHECK_FALSE(hipcc.on_path.known());
  CHECK(compiler_at(facts, root + "/lib/libhiprtc.so.7").rocm_version.is("7.2.0"));
}

TEST_CASE("a plain clang takes the device libraries of /opt/rocm") {
  MemoryHost host;
  add_rocm(host);
  add_clang19(host);
  CHECK(compiler_at(probe(host), "/usr/bin/clang++-19").device_libraries.is("/opt/rocm-7.2.0/amdgcn/bitcode"));
}

TEST_CASE("a folder without ocml.bc is no folder of device libraries") {
  MemoryHost host;
  add_rocm(host);
  host.entries.erase("/opt/rocm-7.2.0/amdgcn/bitcode/ocml.bc");
  CHECK(compiler_at(probe(host), "/opt/rocm-7.2.0/bin/hipcc").device_libraries.is(""));
}

TEST_CASE("the fat wheel brings hipRTC and no program, with Triton's headers beside it") {
  MemoryHost host;
  add_venv(host);
  add_torch(host, "2.9.1+rocm7.2", "7.2.26015");
  host.file(site + "/torch/lib/libamdhip64.so", "");
  host.file(site + "/torch/lib/libhiprtc.so", "elf hiprtc");
  host.file(site + "/torch/lib/libamd_comgr.so", "elf comgr");
  host.file(site + "/triton/backends/amd/include/hip/hip_runtime.h", "");
  const Toolchains facts = probe(host);
  CHECK(paths(facts) == Names{site + "/torch/lib/libhiprtc.so", site + "/torch/lib/libamd_comgr.so"});
  const Toolchain& hiprtc = facts.compilers->front();
  CHECK(hiprtc.kind.is(CompilerKind::hiprtc));
  CHECK(hiprtc.origin.is(ToolchainOrigin::torch_wheel));
  CHECK(hiprtc.rocm_version.is("7.2"));
  CHECK(hiprtc.clang.is(""));
  CHECK(hiprtc.hip_headers.is(site + "/triton/backends/amd/include"));
}

TEST_CASE("hipRTC inside the runtime is found by its symbol") {
  MemoryHost host;
  const std::string runtime = "/usr/lib/x86_64-linux-gnu/libamdhip64.so.5";
  host.file(runtime, "elf");
  host.elf_files[runtime].symbols["hiprtcCompileProgram"] = false;
  CHECK(paths(probe(host)).empty());
  host.elf_files[runtime].symbols["hiprtcCompileProgram"] = true;
  CHECK(paths(probe(host)) == Names{runtime});
}

TEST_CASE("a trampoline is told from the compiler that it starts") {
  MemoryHost host;
  add_venv(host);
  add_sdk(host);
  const Toolchains facts = probe(host);
  const Toolchain& trampoline = compiler_at(facts, venv + "/bin/hipcc");
  CHECK(trampoline.trampoline.is(true));
  CHECK(trampoline.origin.is(ToolchainOrigin::rocm_sdk_wheel));
  CHECK(trampoline.root.is(site + "/_rocm_sdk_core"));
  CHECK(trampoline.rocm_version.is("7.14.0"));
  CHECK(trampoline.on_path.is(true));
  const Toolchain& hipcc = compiler_at(facts, site + "/_rocm_sdk_core/bin/hipcc");
  CHECK(hipcc.trampoline.is(false));
  CHECK(hipcc.clang.is(site + "/_rocm_sdk_core/lib/llvm/bin/clang++"));
  CHECK(hipcc.device_libraries.is(site + "/_rocm_sdk_core/lib/llvm/amdgcn/bitcode"));
}

TEST_CASE("an nvcc belongs to its toolkit, whose version the folder or version.json tells") {
  MemoryHost host;
  host.link("/usr/local/cuda", "cuda-13.0");
  host.file("/usr/local/cuda-13.0/bin/nvcc", "elf");
  CHECK(compiler_at(probe(host), "/usr/local/cuda-13.0/bin/nvcc").rocm_version.is("13.0"));
  host.file("/usr/local/cuda-13.0/version.json", "{\"cuda\": {\"name\": \"CUDA SDK\", \"version\": \"13.0.2\"}}");
  const Toolchain nvcc = compiler_at(probe(host), "/usr/local/cuda-13.0/bin/nvcc");
  CHECK(nvcc.origin.is(ToolchainOrigin::cuda_toolkit));
  CHECK(nvcc.rocm_version.is("13.0.2"));
}

TEST_CASE("compilers of conda and spack are told by their folders") {
  MemoryHost host;
  host.variables["CONDA_PREFIX"] = "/home/u/conda";
  host.variables["PATH"] = "/srv/spack/opt/linux/llvm-19/bin";
  host.file("/home/u/conda/bin/clang++", "elf one");
  host.file("/srv/spack/opt/linux/llvm-19/bin/clang++", "elf two");
  const Toolchains facts = probe(host);
  CHECK(compiler_at(facts, "/home/u/conda/bin/clang++").origin.is(ToolchainOrigin::conda));
  const Toolchain& spack = compiler_at(facts, "/srv/spack/opt/linux/llvm-19/bin/clang++");
  CHECK(spack.origin.is(ToolchainOrigin::spack));
  CHECK(spack.root.is("/srv/spack/opt/linux/llvm-19"));
}

TEST_CASE("the names of device libraries give targets, generic ones too") {
  CHECK(targets_of_device_libraries({"ocml.bc", "oclc_isa_version_90a.bc", "oclc_isa_version_9-4-generic.bc",
                                     "oclc_isa_version_.bc", "oclc_isa_version_1201.txt"}) ==
        Names{"gfx9-4-generic", "gfx90a"});
}

TEST_CASE("variables that send clang elsewhere are followed") {
  MemoryHost host;
  add_rocm(host);
  host.variables["HIP_DEVICE_LIB_PATH"] = "/opt/rocm-7.2.0/amdgcn";
  host.variables["ROCM_PATH"] = "/opt/rocm";
  const Toolchains facts = probe(host);
  REQUIRE(facts.named_device_libraries.known());
  REQUIRE(facts.named_device_libraries->size() == 2);
  CHECK(facts.named_device_libraries->front().variable == "HIP_DEVICE_LIB_PATH");
  CHECK(facts.named_device_libraries->front().folder.is(""));
  CHECK(facts.named_device_libraries->back().folder.is("/opt/rocm-7.2.0/amdgcn/bitcode"));
}

TEST_CASE("ROCM_HOME of an older PyTorch beside a trampoline is the root of the environment") {
  MemoryHost host;
  add_venv(host);
  add_sdk(host);
  add_torch(host, "2.9.1+rocm7.14.0", "7.3.1");
  const TorchRocmHome home = only_home(probe(host));
  CHECK(home.path.is(venv));
  CHECK(home.rule.is("hipcc on PATH"));
  CHECK(home.has_hipcc.is(true));
  CHECK(home.has_headers.is(false));
  CHECK(home.hipcc_in_torch.is(false));
}

TEST_CASE("newer PyTorch asks the SDK packages, the newest prefers devel") {
  MemoryHost host;
  add_venv(host);
  add_sdk(host);
  add_torch(host, "2.13.0+rocm10.0.0", "7.15.26333");
  CHECK(only_home(probe(host)).path.is(site + "/_rocm_sdk_core"));
  add_devel(host);
  // Whether 2.13 has the later change is not established.
  CHECK_FALSE(only_home(probe(host)).path.known());
  host.file(site + "/torch/version.py", "__version__ = '2.15.0+rocm10.1.0'\nhip = '7.16'\n");
  const TorchRocmHome home = only_home(probe(host));
  CHECK(home.path.is(site + "/_rocm_sdk_devel"));
  CHECK(home.has_headers.is(true));
  CHECK(home.headers.is({"hipblas"}));
  host.file(site + "/torch/version.py", "__version__ = '2.12.1+rocm7.2'\nhip = '7.2'\n");
  CHECK(only_home(probe(host)).rule.is("hipcc on PATH"));
}

TEST_CASE("ROCM_HOME follows the variables, then hipcc, then /opt/rocm, else it is None") {
  MemoryHost host;
  add_venv(host);
  add_torch(host, "2.9.1+rocm7.2", "7.2.26015");
  CHECK(only_home(probe(host)).path.is(std::nullopt));
  CHECK(only_home(probe(host)).rule.is("none"));
  host.folder("/opt/rocm");
  CHECK(only_home(probe(host)).path.is("/opt/rocm"));
  host.file("/usr/bin/hipcc", "#!/bin/sh\n");
  CHECK(only_home(probe(host)).path.is("/usr"));
  host.variables["ROCM_PATH"] = "/opt/rocm-7.2.0";
  CHECK(only_home(probe(host)).path.is("/opt/rocm-7.2.0"));
  host.variables["ROCM_HOME"] = "/srv/rocm";
  CHECK(only_home(probe(host)).path.is("/srv/rocm"));
  CHECK(only_home(probe(host)).rule.is("ROCM_HOME"));
}

TEST_CASE("PyTorch 2.0 without hipcc gets an empty text, not None") {
  MemoryHost host;
  add_venv(host);
  add_torch(host, "2.0.1+rocm5.4.2", "5.4.22803");
  CHECK(only_home(probe(host)).path.is(""));
  CHECK(only_home(probe(host)).has_headers.is(false));
}

TEST_CASE("without PATH the rules that need it give no answer") {
  MemoryHost host;
  add_venv(host);
  host.variables.erase("PATH");
  add_torch(host, "2.9.1+rocm7.2", "7.2.26015");
  CHECK_FALSE(only_home(probe(host)).path.known());
}

TEST_CASE("build tools are looked for in PATH, Python.h behind the environment") {
  MemoryHost host;
  add_venv(host);
  host.file("/usr/bin/g++", "elf");
  host.file("/usr/include/python3.12/Python.h", "");
  const Toolchains facts = probe(host);
  const auto path_of = [&](const std::string& name) {
    for (const BuildTool& tool : *facts.build_tools) {
      if (tool.name == name) return tool.path;
    }
    return Fact<std::string>::unknown("no row");
  };
  CHECK(path_of("g++").is("/usr/bin/g++"));
  CHECK(path_of("git").is(""));
  CHECK(path_of("Python.h").is("/usr/include/python3.12/Python.h"));
}

TEST_CASE("spack's compilers are found by SPACK_ROOT, in the folders of every release of spack") {
  MemoryHost host;
  host.variables["SPACK_ROOT"] = "/data/sp";
  const std::string old_layout = "/data/sp/opt/spack/linux-ubuntu22.04-zen3/gcc-12.3.0/llvm-amdgpu-6.2.4-k7t2";
  const std::string new_layout = "/data/sp/opt/spack/linux-zen3/hip-6.2.4-ab12";
  host.file(old_layout + "/bin/amdclang++", "elf amdclang");
  host.file(old_layout + "/amdgcn/bitcode/ocml.bc", "").file(old_layout + "/amdgcn/bitcode/ockl.bc", "");
  host.file(old_layout + "/amdgcn/bitcode/oclc_isa_version_1100.bc", "");
  host.file(old_layout + "/lib/clang/18/include/stddef.h", "");
  host.file(new_layout + "/bin/hipcc", "elf hipcc of spack");
  host.file("/data/sp/opt/spack/linux-zen3/hiptest-1.0-zz/bin/hipcc", "something else");
  const Toolchains facts = probe(host);
  CHECK(paths(facts) == Names{old_layout + "/bin/amdclang++", new_layout + "/bin/hipcc"});
  const Toolchain& clang = compiler_at(facts, old_layout + "/bin/amdclang++");
  CHECK(clang.origin.is(ToolchainOrigin::spack));
  CHECK(clang.root.is(old_layout));
  CHECK(clang.rocm_version.is("6.2.4"));
  CHECK(clang.device_libraries.is(old_layout + "/amdgcn/bitcode"));
  CHECK(clang.device_targets.is({"gfx1100"}));
  CHECK(compiler_at(facts, new_layout + "/bin/hipcc").origin.is(ToolchainOrigin::spack));
  host.variables.clear();
  CHECK(paths(probe(host)).empty());
}

TEST_CASE("ROCM_HOME follows the source of the PyTorch that is there, whatever its version says") {
  MemoryHost host;
  add_venv(host);
  add_sdk(host);
  add_devel(host);
  add_torch(host, "2.14.0+rocm7.14.0", "7.14.60850");
  CHECK_FALSE(only_home(probe(host)).path.known());
  const std::string source = site + "/torch/utils/cpp_extension.py";
  const std::string other = "\ndef _other():\n    '_rocm_sdk_devel'\n";
  const std::string begin = other + "\ndef _find_rocm_home() -> str | None:\n";
  host.file(source, begin + "    importlib.util.find_spec('_rocm_sdk_core')\n    shutil.which('hipcc')\n" + other);
  CHECK(only_home(probe(host)).path.is(site + "/_rocm_sdk_core"));
  host.file(source, begin + "    for modname in ('_rocm_sdk_devel', '_rocm_sdk_core'):\n" + other);
  CHECK(only_home(probe(host)).path.is(site + "/_rocm_sdk_devel"));
  host.file(source, begin + "    hipcc_path = shutil.which('hipcc')\n" + other);
  CHECK(only_home(probe(host)).rule.is("hipcc on PATH"));
  host.file(source, "def _find_rocm_home():\n    something_else()\n");
  CHECK_FALSE(only_home(probe(host)).path.known());
}

}  // namespace sage
