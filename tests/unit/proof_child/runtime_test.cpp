#include "probes/proof_child/runtime.hpp"

#include <cstdlib>
#include <doctest/doctest.h>

#include "probes/base/text.hpp"
#include "probes/host/program.hpp"
#include "tests/unit/proof_child/in_folder.hpp"

namespace sage {
namespace {

const std::string new_hip = SAGE_TEST_SHIMS "/hip_new/libamdhip64.so.7";
const std::string old_hip = SAGE_TEST_SHIMS "/hip_old/libamdhip64.so.7";
const std::string object = SAGE_TEST_SOURCE_DIR "/tests/unit/proof_child/data/gfx1100.hsaco";

/// Chooses how the stand-in runtime behaves while it lives.
class Behaviour {
 public:
  explicit Behaviour(const char* mode) { setenv("SAGE_FAKE_HIP", mode, 1); }
  ~Behaviour() { unsetenv("SAGE_FAKE_HIP"); }
  Behaviour(const Behaviour&) = delete;
  Behaviour& operator=(const Behaviour&) = delete;
};

RuntimeProof proof_when(const char* mode, std::chrono::seconds deadline = runtime_deadline) {
  const Behaviour behaviour(mode);
  return prove_runtime(new_hip, std::nullopt, deadline);
}

CompilerChoice compiler_in(const test::InFolder& here) {
  return {here.script("compiler", "for word; do [ \"$before\" = -o ] && cp " + object + " $word; before=$word; done\n"),
          CompilerKind::clang};
}

}  // namespace

TEST_CASE("a runtime tells its version and devices, in the old and the new form of the properties") {
  for (const std::string& library : {new_hip, old_hip}) {
    const RuntimeProof proof = prove_runtime(library, std::nullopt);
    CHECK(proof.loaded.is(true));
    CHECK(proof.outcome.is("ok"));
    CHECK(proof.version.is("7.2.26015"));
    CHECK(proof.devices.is(1));
    CHECK(proof.device_names->front() == "Stand-in [31m GPU (gfx1100)");
    CHECK_FALSE(proof.kernel_ran.known());
  }
}

TEST_CASE("a kernel is launched and its result compared") {
  const test::InFolder here;
  CHECK(prove_runtime(new_hip, compiler_in(here)).kernel_ran.is(true));

  const Behaviour wrong("wrong result");
  const RuntimeProof proof = prove_runtime(new_hip, compiler_in(here));
  CHECK(proof.kernel_ran.is(false));
  CHECK(proof.message.is("running a kernel: the kernel gave wrong results"));
}

TEST_CASE("a launch that fails or hangs keeps what the runtime told before") {
  const test::InFolder here;
  {
    const Behaviour poor("no memory");
    const RuntimeProof proof = prove_runtime(new_hip, compiler_in(here));
    CHECK(proof.kernel_ran.is(false));
    CHECK(proof.message.is("running a kernel: hipMalloc: error 2 (something went wrong)"));
    CHECK(proof.devices.is(1));
  }
  const Behaviour hang("launch hangs");
  const RuntimeProof proof = prove_runtime(new_hip, compiler_in(here), std::chrono::seconds(1));
  CHECK(proof.kernel_ran.is(false));
  CHECK(proof.outcome.is("deadline of 1 s passed"));
  CHECK(proof.version.is("7.2.26015"));
}

TEST_CASE("without a kernel for the device nothing is launched") {
  const test::InFolder here;
  const CompilerChoice broken{here.script("broken", "echo 'clang: error: no' >&2; exit 1\n"), CompilerKind::clang};
  const RuntimeProof proof = prove_runtime(new_hip, broken);
  CHECK_FALSE(proof.kernel_ran.known());
  CHECK(proof.kernel_ran.why_unknown().text == broken.path + " builds no kernel for gfx1100: no");
}

TEST_CASE("no device is an answer, another error is none") {
  const RuntimeProof none = proof_when("no device");
  CHECK(none.outcome.is("ok"));
  CHECK(none.devices.is(0));
  CHECK(none.message.is("hipGetDeviceCount: error 100 (no ROCm-capable device is detected)"));

  const RuntimeProof failed = proof_when("not initialized");
  CHECK(failed.outcome.is("error 3"));
  CHECK_FALSE(failed.devices.known());
  CHECK(failed.version.known());

  CHECK(proof_when("nonsense").outcome.is("no sense"));
}

TEST_CASE("a runtime that crashes, ends the process or hangs is told with what it said before") {
  const RuntimeProof aborted = proof_when("abort");
  CHECK(aborted.loaded.is(true));
  CHECK(aborted.outcome.is("killed by SIGABRT"));
  CHECK(aborted.version.is("7.2.26015"));
  CHECK_FALSE(aborted.devices.known());

  const RuntimeProof at_once = proof_when("crash at once");
  CHECK(at_once.loaded.is(true));
  CHECK_FALSE(at_once.version.known());

  CHECK(proof_when("exit").outcome.is("exit status 3"));
  CHECK(proof_when("hang", std::chrono::seconds(1)).outcome.is("deadline of 1 s passed"));
}

TEST_CASE("the last words of a runtime that crashes are its message") {
  // In the program itself: doctest has handlers for signals.
  const Behaviour behaviour("abort");
  const auto end =
      run_foreign_program({SAGE_TEST_BINARY, "internal", "runtime", "--library", new_hip}, std::chrono::seconds(60));
  REQUIRE(end.ok());
  CHECK(end->exit_status == 0);
  CHECK(contains(end->output, "\"outcome\":\"killed by SIGABRT\",\"message\":\"free(): invalid pointer\""));
}

TEST_CASE("what is no HIP runtime is not taken for one") {
  const TemporaryFolder folder;
  const RuntimeProof garbage = prove_runtime(folder.write("libamdhip64.so.6", "garbage"), std::nullopt);
  CHECK(garbage.loaded.is(false));
  CHECK(garbage.outcome.is("could not be loaded"));
  CHECK(garbage.message->find("file too short") != std::string::npos);

  const RuntimeProof other = prove_runtime(SAGE_TEST_SHIMS "/drm/libdrm.so.2", std::nullopt);
  CHECK(other.loaded.is(true));
  CHECK(other.outcome.is("functions are missing"));
}

}  // namespace sage
