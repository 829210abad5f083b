#include "doctor/build/compile/compile.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>

#include "probes/base/text.hpp"
#include "probes/proof_child/device_command.hpp"
#include "probes/host/file_calls.hpp"
#include "tests/unit/proof_child/in_folder.hpp"

namespace sage {
namespace {

const std::string data = SAGE_TEST_SOURCE_DIR "/tests/unit/build/compile/data/";

// Stand-ins for a compiler: what follows "-o" is $out, the unit's definition is $pick.
const std::string parse =
    "for word; do [ \"$before\" = -o ] && out=$word; before=$word; case $word in -DSAGE_PICK_*) pick=${word#-DSAGE_PICK_};; esac; done\n";

std::string copying(const std::string& file) { return parse + "cp " + data + file + " $out\n"; }

/// A run with a fake compiler for gfx1100.
class Build {
 public:
  explicit Build(const std::string& script) {
    request.target = "gfx1100";
    request.kind = CompilerKind::clang;
    request.compiler = here_.script("compiler", script);
    request.identity = "compiler 1";
    request.source = here_.folder().write("kernels.hip", "kernels");
    request.source_digest = "digest";
    request.folder = here_.folder().path();
    request.parallel = 3;
    request.on_failure = OnFailure::keep_going;
    request.cached = [this](const std::string& key) -> std::optional<std::string> {
      const auto found = cache.find(key);
      return found == cache.end() ? std::nullopt : std::optional(found->second);
    };
    request.store = [this](const std::string& key, const std::string& bytes) { cache[key] = bytes; };
  }

  TargetResult run() {
    compiles = 0;
    TargetCallbacks callbacks;
    callbacks.started = [this](std::size_t) { ++compiles; };
    auto result = compile_target(request, *GfxTables::embedded(), callbacks);
    REQUIRE(result.ok());
    return *std::move(result);
  }

  TargetRequest request;
  std::map<std::string, std::string> cache;
  int compiles = 0;

 private:
  test::InFolder here_;
};

const UnitResult& row(const TargetResult& result, std::string_view name) {
  for (const UnitResult& each : result.units) {
    if (each.unit.name == name) return each;
  }
  FAIL("no unit " << name);
  return result.units[0];
}

std::string bytes_of(const std::string& file) { return *file_calls::read_whole(data + file, Links::keep, 1 << 20); }

}  // namespace

TEST_CASE("every unit of a target is compiled, verified and kept") {
  Build build(copying("gfx1100.hsaco"));
  const TargetResult result = build.run();
  CHECK(result.complete());
  CHECK(build.compiles == 9);
  CHECK(build.cache.size() == 9);
  for (const UnitResult& each : result.units) {
    CHECK(each.state == UnitState::ready);
    CHECK(each.origin == ObjectOrigin::compiled);
    CHECK(each.bytes == bytes_of("gfx1100.hsaco"));
    CHECK(each.warnings.empty());
    CHECK(contains(join(each.command, " "), "-DSAGE_ONLY -DSAGE_PICK_" + each.unit.name));
  }
}

TEST_CASE("what is in the cache is not compiled again, until something changes that decides the bytes") {
  Build build(copying("gfx1100.hsaco"));
  static_cast<void>(build.run());
  const TargetResult again = build.run();
  CHECK(build.compiles == 0);
  CHECK(again.complete());
  CHECK(again.units[0].origin == ObjectOrigin::cached);
  build.request.identity = "compiler 2";
  static_cast<void>(build.run());
  CHECK(build.compiles == 9);
  build.request.source_digest = "other";
  static_cast<void>(build.run());
  CHECK(build.compiles == 9);
}

TEST_CASE("a cache entry that is no sound object is compiled anew") {
  Build build(copying("gfx1100.hsaco"));
  static_cast<void>(build.run());
  build.cache.begin()->second = bytes_of("gfx90a.hsaco");
  CHECK(build.run().complete());
  CHECK(build.compiles == 1);
}

TEST_CASE("a compiler that does not know how not to bundle is asked for a bundle") {
  Build build("case \"$*\" in *--no-gpu-bundle-output*) echo \"clang: error: unknown argument '--no-gpu-bundle-output'\" >&2; exit 1;; esac\n" +
              copying("gfx1100.bundle"));
  build.request.on_failure = OnFailure::stop;
  const TargetResult result = build.run();
  CHECK(result.complete());
  CHECK(result.units[0].bytes.starts_with("\x7f" "ELF"));
  CHECK_FALSE(contains(join(result.units[0].command, " "), "bundle"));
}

TEST_CASE("a long kernel in scratch memory is left out where the short one is well") {
  Build build(copying("long_in_scratch.hsaco"));
  const TargetResult result = build.run();
  CHECK(result.complete());
  const UnitResult& left_out = row(result, "sage_attention_d128_F16_LONG");
  CHECK(left_out.state == UnitState::left_out);
  CHECK(left_out.bytes.empty());
  CHECK(left_out.warnings.size() == 1);
  CHECK(row(result, "sage_attention_d128_F16_SHORT").state == UnitState::ready);
}

TEST_CASE("where both lengths are in scratch memory a clean prebuilt object is taken, else the kernel with a warning") {
  Build build(copying("all_in_scratch.hsaco"));
  const TargetResult warned = build.run();
  CHECK(warned.complete());
  CHECK(row(warned, "sage_attention_d128_F16_LONG").state == UnitState::ready);
  CHECK(row(warned, "sage_attention_d128_F16_LONG").warnings.size() == 1);
  CHECK(row(warned, "sage_prologue").warnings.empty());

  build.request.prebuilt = [](const Unit&) { return std::optional(bytes_of("gfx1100.hsaco")); };
  const TargetResult prebuilt = build.run();
  CHECK(row(prebuilt, "sage_attention_d128_F16_LONG").origin == ObjectOrigin::prebuilt);
  CHECK(row(prebuilt, "sage_attention_d128_F16_LONG").warnings.empty());
  CHECK(row(prebuilt, "sage_prologue").origin == ObjectOrigin::cached);
}

TEST_CASE("a code object of another target is refused") {
  Build build(copying("gfx90a.hsaco"));
  const TargetResult result = build.run();
  CHECK_FALSE(result.complete());
  CHECK(build.cache.empty());
  const UnitResult& first = result.units[0];
  CHECK(first.state == UnitState::failed);
  REQUIRE(first.failure.has_value());
  CHECK(first.failure->id == "object-refused");
  CHECK(contains(first.failure->cause, "the code object is for gfx90a, not for gfx1100"));
}

TEST_CASE("a prebuilt object takes the place of a compile that failed, not silently") {
  Build build("echo 'clang: error: invalid target ID gfx1100' >&2; exit 1\n");
  build.request.prebuilt = [](const Unit&) { return std::optional(bytes_of("gfx1100.hsaco")); };
  const TargetResult result = build.run();
  CHECK(result.complete());
  CHECK(result.units[0].origin == ObjectOrigin::prebuilt);
  CHECK(result.units[0].failure->id == "target-unknown");
  CHECK(result.units[0].notes.size() == 1);

  build.request.prebuilt = [](const Unit&) { return std::optional(bytes_of("gfx90a.hsaco")); };
  CHECK_FALSE(build.run().complete());
}

TEST_CASE("compilers that misbehave are found out") {
  struct Case {
    const char* id;
    std::string script;
  };
  const Case cases[] = {
      {"no-output", "exit 0\n"},
      {"no-output", parse + ": > $out\n"},
      {"timeout", "sleep 1000\n"},
      {"out-of-memory", "kill -KILL $$\n"},
      {"compiler-crash", "kill -SEGV $$\n"},
      {"unknown", "yes x | head -c 100000000; exit 1\n"},
      {"object-refused", parse + "echo garbage > $out\n"},
  };
  for (const Case& each : cases) {
    INFO(each.script);
    Build build(each.script);
    build.request.on_failure = OnFailure::stop;
    build.request.deadline = std::chrono::milliseconds(std::string_view(each.id) == "timeout" ? 400 : 60000);
    build.request.parallel = 1;
    const TargetResult result = build.run();
    CHECK_FALSE(result.complete());
    REQUIRE(result.units[0].failure.has_value());
    CHECK(result.units[0].failure->id == each.id);
    CHECK(result.units[0].log.size() < 3 * kept_output_bytes);
    CHECK(build.cache.empty());
  }
}

TEST_CASE("an output of an earlier run is not taken for this one's") {
  Build build("exit 0\n");
  const std::string stale = build.request.folder + "/gfx1100-sage_prologue.hsaco";
  std::filesystem::copy_file(data + "gfx1100.hsaco", stale);
  CHECK(build.run().units[0].failure->id == "no-output");
}

TEST_CASE("without a compiler there are prebuilt objects or nothing") {
  Build build("exit 1\n");
  build.request.compiler.clear();
  CHECK(build.run().units[0].failure->id == "nothing-to-use");
  build.request.prebuilt = [](const Unit&) { return std::optional(bytes_of("gfx1100.hsaco")); };
  const TargetResult result = build.run();
  CHECK(result.complete());
  CHECK(build.compiles == 0);
  CHECK(target_commands(build.request).empty());
}

TEST_CASE("a target without kernels is an error") {
  TargetRequest request;
  request.target = "gfx1030";
  const auto result = compile_target(request, *GfxTables::embedded(), {});
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().text == "there are no kernels for gfx1030");
}

TEST_CASE("the commands are those that are run") {
  Build build(copying("gfx1100.hsaco"));
  const auto commands = target_commands(build.request);
  const TargetResult result = build.run();
  REQUIRE(commands.size() == result.units.size());
  for (std::size_t i = 0; i < commands.size(); ++i) CHECK(commands[i] == result.units[i].command);
}

TEST_CASE("a library is asked by this program") {
  Build build("");
  build.request.kind = CompilerKind::hiprtc;
  build.request.compiler = "/x y/libamdhip64.so.5";
  const auto commands = target_commands(build.request);
  REQUIRE(commands.size() == 9);
  CHECK(commands[0][0].starts_with("/"));
  CHECK(contains(pasteable(commands[0]), " internal compile-unit --kind hipRTC --compiler '/x y/libamdhip64.so.5' --target gfx1100 "
                                         "--unit sage_prologue --source "));
}

}  // namespace sage
