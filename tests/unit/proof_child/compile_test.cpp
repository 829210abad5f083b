#include "probes/proof_child/compile.hpp"

#include <doctest/doctest.h>

#include "tests/unit/proof_child/in_folder.hpp"

namespace sage {
namespace {

const std::string data = SAGE_TEST_SOURCE_DIR "/tests/unit/proof_child/data/";

// Stand-ins for a compiler: what follows "-o" is $out.
const std::string find_output = "for word; do [ \"$before\" = -o ] && out=$word; before=$word; done\n";

CompileProof proof_of(const test::InFolder& here, const std::string& script, const std::string& target = "gfx1100") {
  return compile({here.script("compiler", script), CompilerKind::clang, target, ProofSource::freestanding}).proof;
}

}  // namespace

TEST_CASE("a compiler is believed when the code object is for the target and has the kernel") {
  const test::InFolder here;
  const std::string copies = find_output + "cp " + data + "gfx1100.hsaco $out\n";
  const CompileProof proof = proof_of(here, copies);
  CHECK(proof.built.is(true));
  CHECK(proof.object_target.is("gfx1100"));
  CHECK(proof.outcome.is("ok"));
  CHECK(proof.message.is(""));

  const CompileProof other = proof_of(here, copies, "gfx1201");
  CHECK(other.built.is(false));
  CHECK(other.object_target.is("gfx1100"));
  CHECK(other.message.is("the code object is for gfx1100"));
}

TEST_CASE("the code object is taken out of a bundle") {
  const test::InFolder here;
  const std::string copies = find_output + "cp " + data + "gfx1100.bundle $out\n";
  CHECK(proof_of(here, copies).built.is(true));
  CHECK(proof_of(here, copies, "gfx1030").message.is("the bundle holds no code object for gfx1030"));
}

TEST_CASE("a code object without the kernel is none") {
  const test::InFolder here;
  const CompileProof proof =
      proof_of(here, find_output + "sed s/sage_proof/lost_proof/g " + data + "gfx1100.hsaco > $out\n");
  CHECK(proof.built.is(false));
  CHECK(proof.message.is("the kernel is missing in the code object"));
}

TEST_CASE("success without a code object is no success") {
  const test::InFolder here;
  CHECK(proof_of(here, "exit 0\n").message.is("the compiler wrote no code object"));
  const CompileProof garbage = proof_of(here, find_output + "echo garbage > $out\n");
  CHECK(garbage.built.is(false));
  CHECK(garbage.message->starts_with("no sound code object: "));
  const CompileProof cut = proof_of(here, find_output + "head -c 700 " + data + "gfx1100.hsaco > $out\n");
  CHECK(cut.built.is(false));
}

TEST_CASE("a compiler that fails, crashes, hangs or is not there says so") {
  const test::InFolder here;
  const CompileProof failed = proof_of(here, "echo \"clang: error: invalid target ID 'gfx1100'\" >&2; exit 1\n");
  CHECK(failed.built.is(false));
  CHECK(failed.outcome.is("exit status 1"));
  CHECK(failed.message.is("invalid target ID 'gfx1100'"));
  CHECK(failed.object_target.is(""));

  CHECK(proof_of(here, "kill -ABRT $$\n").outcome.is("killed by SIGABRT"));

  CompileRequest hanging{here.script("hangs", "sleep 600\n"), CompilerKind::clang, "gfx1100"};
  hanging.deadline = std::chrono::seconds(1);
  CHECK(compile(hanging).proof.outcome.is("deadline of 1 s passed"));

  const CompileProof absent = compile({"/no/such/clang", CompilerKind::clang, "gfx1100"}).proof;
  CHECK(absent.outcome.is("could not be started"));
  CHECK(absent.message.is("/no/such/clang: no such file or directory"));
}

TEST_CASE("a compiler that does not know --no-gpu-bundle-output is asked without it") {
  const test::InFolder here;
  const CompileProof proof = proof_of(
      here, "case \"$*\" in *--no-gpu-bundle-output*) echo \"clang: error: unknown argument: '--no-gpu-bundle-output'\" "
            ">&2; exit 1;; esac\n" +
                find_output + "cp " + data + "gfx1100.bundle $out\n");
  CHECK(proof.built.is(true));
  CHECK(proof.command->find("--no-gpu-bundle-output") == std::string::npos);
}

TEST_CASE("each kind of compiler is told its own way to make device code") {
  const test::InFolder here;
  const std::string echo = here.script("com piler", "exit 1\n");
  const auto command = [&](CompilerKind kind, const std::string& target, ProofSource source) {
    return *compile({echo, kind, target, source}).proof.command;
  };
  const std::string quoted = "'" + echo + "'";
  CHECK(command(CompilerKind::hipcc, "gfx90a", ProofSource::with_headers) ==
        quoted + " --genco --offload-arch=gfx90a --no-gpu-bundle-output -std=c++17 -O3 -o kernel.hsaco kernel.hip");
  CHECK(command(CompilerKind::amdclang, "gfx1201", ProofSource::freestanding) ==
        quoted + " -x hip --cuda-device-only --offload-arch=gfx1201 -nogpulib -nogpuinc --no-gpu-bundle-output "
                 "-std=c++17 -O3 -o kernel.hsaco kernel.hip");
  CHECK(command(CompilerKind::nvcc, "sm_90", ProofSource::freestanding) ==
        quoted + " -x cu -cubin -arch=sm_90a -std=c++17 -O3 -o kernel.hsaco kernel.cu");
}

TEST_CASE("a library without hipRTC or comgr inside is named as such") {
  const test::InFolder here;
  const std::string library = SAGE_TEST_SHIMS "/hip_new/libamdhip64.so.7";
  CHECK(compile({library, CompilerKind::hiprtc, "gfx1100"}).proof.message.is("it has no hipRTC inside"));
  CHECK(compile({library, CompilerKind::comgr, "gfx1100"}).proof.message.is("functions of comgr are missing in it"));
  const CompileProof absent = compile({"/no/libhiprtc.so", CompilerKind::hiprtc, "gfx1100"}).proof;
  CHECK(absent.outcome.is("could not be loaded"));
  CHECK(absent.built.is(false));
}

}  // namespace sage
