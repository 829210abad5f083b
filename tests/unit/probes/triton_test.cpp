#include "probes/triton_install.hpp"

#include <doctest/doctest.h>

#include "probes/python.hpp"
#include "tests/support/memory_host.hpp"

namespace sage {
namespace {

const std::string site = "/home/u/venv/lib/python3.12/site-packages";
const std::string backend = site + "/triton/backends/amd";

// Lines of the published sources.
const std::string ends_with = "        if env_libhip_path.endswith(lib_name) and os.path.exists(env_libhip_path):\n";
const std::string starts_with = "        if Path(env_libhip_path).name.startswith(lib_name) and os.path.isfile(x):\n";
const std::string cache_lines = "    locs = [l.split()[-1] for l in libs if line.strip().endswith(lib_name)]\n";
const std::string hipconfig = "        hip_root = subprocess.check_output([\"hipconfig\", \"--path\"])\n";
const std::string of_sdk = "        therock_libhip_path = str(rocm_sdk.find_libraries(\"amdhip64\")[0])\n";
const std::string own_linker = "        lld = Path(\"/opt/rocm/llvm/bin/ld.lld\")\n";

MemoryHost with_triton(const std::string& driver, const std::string& compiler) {
  MemoryHost host;
  host.file(site + "/triton/__init__.py", "\"\"\"isort\"\"\"\n__version__ = '3.4.0'\n\nfrom .runtime import x\n");
  host.file(backend + "/driver.py", driver);
  host.file(backend + "/compiler.py", compiler);
  host.file(backend + "/lib/ocml.bc", "").file(backend + "/lib/ockl.bc", "").file(backend + "/lib/x.so", "");
  return host;
}

}  // namespace

TEST_CASE("a Triton is told by its own files") {
  const TritonInstall triton = describe_triton(with_triton(ends_with + cache_lines, own_linker), site);
  CHECK(triton.folder == site + "/triton");
  CHECK(triton.version.is("3.4.0"));
  CHECK(triton.takes_numbered_name.is(false));
  CHECK(triton.takes_sdk_first.is(false));
  CHECK(triton.asks_hipconfig.is(false));
  CHECK(triton.starts_linker.is(true));
  CHECK(triton.linker.is(""));
  CHECK(triton.bitcode.is({"ockl.bc", "ocml.bc"}));
  CHECK(triton.has_headers.is(false));
}

TEST_CASE("newer Tritons link by themselves, ask hipconfig, prefer the SDK wheels and take numbers") {
  const TritonInstall triton =
      describe_triton(with_triton(starts_with + cache_lines + hipconfig + of_sdk, "amd.link_hsaco(a, b)\n"), site);
  CHECK(triton.takes_numbered_name.is(true));
  CHECK(triton.takes_sdk_first.is(true));
  CHECK(triton.asks_hipconfig.is(true));
  CHECK(triton.starts_linker.is(false));
}

TEST_CASE("a linker is looked for where Triton looks, the variable first") {
  MemoryHost host = with_triton(ends_with, own_linker);
  host.file("/usr/bin/ld.lld", "elf");
  CHECK(describe_triton(host, site).linker.is("/usr/bin/ld.lld"));
  host.file("/opt/rocm/llvm/bin/ld.lld", "elf");
  CHECK(describe_triton(host, site).linker.is("/opt/rocm/llvm/bin/ld.lld"));
  host.file(backend + "/llvm/bin/ld.lld", "elf");
  CHECK(describe_triton(host, site).linker.is(backend + "/llvm/bin/ld.lld"));
  host.variables["TRITON_HIP_LLD_PATH"] = "/gone/ld.lld";
  CHECK(describe_triton(host, site).linker.is(backend + "/llvm/bin/ld.lld"));
  host.file("/gone/ld.lld", "elf");
  CHECK(describe_triton(host, site).linker.is("/gone/ld.lld"));
}

TEST_CASE("of a Triton without an AMD backend nothing is claimed") {
  MemoryHost host;
  host.file(site + "/triton/__init__.py", "");
  const TritonInstall triton = describe_triton(host, site);
  CHECK_FALSE(triton.version.known());
  CHECK_FALSE(triton.takes_numbered_name.known());
  CHECK_FALSE(triton.starts_linker.known());
  CHECK(triton.bitcode.is({}));
  CHECK_FALSE(triton_search("def _get_path(): ...", "driver.py").takes_numbered_name.known());
}

TEST_CASE("only a whole assignment gives Triton's version") {
  CHECK(triton_version("__version__ = \"3.9.0\"\n") == "3.9.0");
  CHECK(triton_version("__version__ = '\n").empty());
  CHECK(triton_version("__version__\n").empty());
  CHECK(triton_version("x = '1'\n").empty());
}

TEST_CASE("the Triton of the first site is the one that an import gets") {
  MemoryHost host = with_triton(ends_with, own_linker);
  host.variables["VIRTUAL_ENV"] = "/home/u/venv";
  host.variables["PYTHONPATH"] = "/home/u/project";
  host.file("/usr/bin/python3.12", "elf");
  host.file("/home/u/venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.12.3\n");
  host.link("/home/u/venv/bin/python3", "/usr/bin/python3.12");
  const auto folder = [&] {
    const Python python = probe_python(host);
    REQUIRE(python.environments->front().triton.known());
    REQUIRE(python.environments->front().triton->size() == 1);
    return python.environments->front().triton->front().folder;
  };
  CHECK(folder() == site + "/triton");
  host.file("/home/u/project/triton/__init__.py", "__version__ = '3.9.0'\n");
  CHECK(folder() == "/home/u/project/triton");
}

}  // namespace sage
