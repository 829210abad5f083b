#include "probes/proof_child/python.hpp"

#include <doctest/doctest.h>

#include "tests/unit/proof_child/in_folder.hpp"

namespace sage {
namespace {

// Enough of torch for the proof: a device that is the processor. "spoil" spoils the product.
const std::string fake_torch = R"PY(import types
__version__ = "2.9.1+rocm6.4"
version = types.SimpleNamespace(hip="6.4.43484", cuda=None)
float32 = "float32"
print("sage-doctor-proof: {not json")
print("torch talks")
class Tensor(list):
    def __mod__(self, n): return Tensor(v % n for v in self)
    def reshape(self, *shape): return self
    def to(self, device): return self
    def cpu(self): return self
    def __matmul__(self, other): return Tensor(v * w for v, w in zip(self, other))
def arange(n, dtype=None): return Tensor(range(n))
def equal(a, b): return a == b
cuda = types.SimpleNamespace(
    device_count=lambda: 1,
    get_device_name=lambda i: "AMD Radeon RX 7900 XTX",
    get_device_properties=lambda i: types.SimpleNamespace(gcnArchName="gfx1100"))
)PY";

/// An interpreter whose torch is this text.
std::string python_with(const test::InFolder& here, const std::string& torch) {
  static_cast<void>(here.folder().write("site/torch/__init__.py", torch));
  static_cast<void>(here.folder().write("site/torch/utils/__init__.py", ""));
  static_cast<void>(here.folder().write("site/torch/utils/cpp_extension.py", "ROCM_HOME = '/opt/rocm'\n"));
  return here.script("python", "PYTHONPATH=" + here.folder().path("site") + " exec python3 \"$@\"\n");
}

}  // namespace

TEST_CASE("a working torch tells version, devices and the result of a product") {
  const test::InFolder here;
  const PythonProof proof = prove_python(python_with(here, fake_torch));
  CHECK(proof.imported.is(true));
  CHECK(proof.outcome.is("ok"));
  CHECK(proof.message.is(""));
  CHECK(proof.torch_version.is("2.9.1+rocm6.4"));
  CHECK(proof.hip.is("6.4.43484"));
  CHECK(proof.devices.is(1));
  CHECK(proof.device_names->front() == "AMD Radeon RX 7900 XTX (gfx1100)");
  CHECK(proof.kernel_ran.is(true));
  CHECK(proof.rocm_home.is("/opt/rocm"));
  CHECK(proof.mapped->empty());
}

TEST_CASE("a product that differs is no success") {
  const test::InFolder here;
  const PythonProof proof = prove_python(python_with(here, fake_torch + "equal = lambda a, b: False\n"));
  CHECK(proof.kernel_ran.is(false));
}

TEST_CASE("the mapped runtime libraries are listed") {
  const test::InFolder here;
  const std::string library = SAGE_TEST_SHIMS "/hip_new/libamdhip64.so.7";
  const PythonProof proof =
      prove_python(python_with(here, "import ctypes\nctypes.CDLL('" + library + "')\n" + fake_torch));
  REQUIRE(proof.mapped.known());
  REQUIRE(proof.mapped->size() == 1);
  CHECK(proof.mapped->front().find("libamdhip64.so") != std::string::npos);
}

TEST_CASE("an import that fails gives the last line of the traceback") {
  const test::InFolder here;
  const PythonProof proof = prove_python(python_with(
      here, "raise ImportError('libamdhip64.so.6: cannot open shared object file: No such file or directory')\n"));
  CHECK(proof.imported.is(false));
  CHECK(proof.outcome.is("exit status 1"));
  CHECK(proof.message.is("ImportError: libamdhip64.so.6: cannot open shared object file: No such file or directory"));
  CHECK_FALSE(proof.devices.known());
}

TEST_CASE("a step that fails is named") {
  const test::InFolder here;
  const PythonProof proof = prove_python(python_with(
      here, fake_torch + "def broken(i): raise RuntimeError('HIP error: invalid device function\\nmore')\n"
                         "cuda.get_device_name = broken\n"));
  CHECK(proof.imported.is(true));
  CHECK(proof.devices.is(1));
  CHECK(proof.message->starts_with("naming the devices: "));
  CHECK_FALSE(proof.kernel_ran.known());
}

TEST_CASE("without a device nothing is computed") {
  const test::InFolder here;
  const PythonProof proof = prove_python(python_with(here, fake_torch + "cuda.device_count = lambda: 0\n"));
  CHECK(proof.devices.is(0));
  CHECK_FALSE(proof.kernel_ran.known());
  CHECK(proof.outcome.is("ok"));
}

TEST_CASE("a torch that hangs, crashes or ends Python is told") {
  const test::InFolder here;
  const PythonProof hung =
      prove_python(python_with(here, "import time\ntime.sleep(600)\n"), std::chrono::seconds(2));
  CHECK(hung.imported.is(false));
  CHECK(hung.outcome.is("deadline of 2 s passed"));

  const PythonProof crashed = prove_python(python_with(
      here, "import os, sys\nsys.stderr.write('double free\\n')\nsys.stderr.flush()\nos.kill(os.getpid(), 11)\n"));
  CHECK(crashed.outcome.is("killed by SIGSEGV"));
  CHECK(crashed.message.is("double free"));

  const PythonProof at_exit =
      prove_python(python_with(here, fake_torch + "import atexit, os\natexit.register(lambda: os.kill(os.getpid(), 6))\n"));
  CHECK(at_exit.imported.is(true));
  CHECK(at_exit.kernel_ran.is(true));
  CHECK(at_exit.outcome.is("killed by SIGABRT"));

  const PythonProof left = prove_python(python_with(here, "import os\nos._exit(0)\n"));
  CHECK(left.imported.is(false));
}

TEST_CASE("an interpreter that is not there is told") {
  const PythonProof proof = prove_python("/no/such/python3");
  CHECK(proof.imported.is(false));
  CHECK(proof.outcome.is("could not be started"));
}

}  // namespace sage
