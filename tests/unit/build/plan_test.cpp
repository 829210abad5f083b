#include "doctor/build/plan.hpp"

#include <doctest/doctest.h>

#include <utility>

#include "doctor/build/without_kernels.hpp"
#include "tests/unit/checks/machines.hpp"

using namespace sage;
using namespace sage::test;

namespace {

Toolchain clang(const std::string& path, const std::string& version) {
  Toolchain compiler;
  compiler.path = path;
  compiler.canonical = path;
  compiler.kind = CompilerKind::clang;
  compiler.origin = ToolchainOrigin::distribution;
  compiler.root = std::string("/usr");
  compiler.clang = path;
  compiler.clang_version = version;
  compiler.linker = std::string("/usr/bin/ld.lld");
  compiler.bundler = std::string();
  compiler.trampoline = false;
  return compiler;
}

Facts with_compilers(std::vector<Toolchain> compilers) {
  Facts facts = bare_metal_9070xt();
  facts.toolchains.compilers = std::move(compilers);
  return facts;
}

std::vector<std::string> targets(const BuildPlanning& planning) {
  std::vector<std::string> names;
  for (const TargetPlan& one : planning.plan.targets) names.push_back(one.target);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a build without wishes is for this machine's GPU, and has to run there") {
  const Facts facts = with_compilers({clang("/usr/bin/clang++-19", "19.1.7")});
  const BuildPlanning planning = make_build_plan(facts, tables(), {});
  REQUIRE(planning.problems.empty());
  CHECK(targets(planning) == Names{"gfx1201"});
  CHECK(planning.plan.targets_source == "this machine's GPU");
  CHECK(planning.plan.gpu_expected);
  CHECK(planning.plan.targets[0].units.units.size() == 17);
  REQUIRE(planning.plan.targets[0].compilers.size() == 1);
  CHECK(planning.plan.targets[0].compilers[0].compiler->path == "/usr/bin/clang++-19");
}

TEST_CASE("a target of another GPU is built for and does not have to run") {
  const BuildPlanning planning = make_build_plan(with_compilers({}), tables(), {{"gfx942", "gfx942", "gfx1100"}, ""});
  CHECK(targets(planning) == Names{"gfx942", "gfx1100"});
  CHECK_FALSE(planning.plan.gpu_expected);
  CHECK(planning.plan.targets_source == "--target");
}

TEST_CASE("all is every target that has kernels, each once") {
  const BuildPlanning planning = make_build_plan(with_compilers({}), tables(), {{"gfx1201", "all"}, ""});
  REQUIRE(planning.problems.empty());
  CHECK(targets(planning).size() == targets_with_kernels().size());
  CHECK(targets(planning).front() == "gfx1201");
}

TEST_CASE("a valid override of the GPU's version is what is built for") {
  Facts facts = with_compilers({});
  set_variable(facts, "HSA_OVERRIDE_GFX_VERSION", std::string("11.0.0"));
  CHECK(targets(make_build_plan(facts, tables(), {})) == Names{"gfx1100"});
  set_variable(facts, "HSA_OVERRIDE_GFX_VERSION", std::string("eleven"));
  CHECK(targets(make_build_plan(facts, tables(), {})) == Names{"gfx1201"});
}

TEST_CASE("under WSL an override claims nothing, for a build as for an environment") {
  Facts facts = wsl2_9070xt("7.2.0");
  facts.toolchains.compilers = std::vector<Toolchain>{};
  set_variable(facts, "HSA_OVERRIDE_GFX_VERSION", std::string("11.0.0"));
  CHECK(targets(make_build_plan(facts, tables(), {})) == Names{"gfx1201"});
}

TEST_CASE("a GPU without kernels is no problem beside one that has some, unless it was asked for") {
  Facts facts = with_compilers({});
  std::vector<Gpu> gpus = *facts.gpus.amd;
  gpus.push_back(raphael_integrated());
  REQUIRE(gpus.back().target.is("gfx1036"));
  facts.gpus.amd = gpus;
  const BuildPlanning both = make_build_plan(facts, tables(), {});
  CHECK(both.problems.empty());
  CHECK(targets(both) == Names{"gfx1201"});

  facts.gpus.amd = std::vector<Gpu>{gpus.back()};
  const BuildPlanning alone = make_build_plan(facts, tables(), {});
  REQUIRE(alone.problems.size() == 1);
  CHECK(alone.problems[0].status == 1);
  CHECK(alone.problems[0].reason.find("gfx1036") != std::string::npos);
  CHECK_FALSE(alone.problems[0].advice.empty());
}

TEST_CASE("no GPU and no wish is no plan, and says which of the two is unknown") {
  Facts facts = with_compilers({});
  facts.gpus.amd = std::vector<Gpu>{};
  BuildPlanning planning = make_build_plan(facts, tables(), {});
  REQUIRE(planning.problems.size() == 1);
  CHECK(planning.problems[0].status == 1);
  CHECK(planning.problems[0].reason == "there is no AMD GPU here to build for");

  facts.gpus.amd = Fact<std::vector<Gpu>>::unknown(Error{13, "/sys cannot be read"});
  planning = make_build_plan(facts, tables(), {});
  REQUIRE(planning.problems.size() == 1);
  CHECK(planning.problems[0].reason.find("/sys cannot be read") != std::string::npos);
}

TEST_CASE("what is no target at all is wrong usage, also beside one that is") {
  const BuildPlanning planning = make_build_plan(with_compilers({}), tables(), {{"gfx1201", "gfx12010"}, ""});
  REQUIRE(planning.problems.size() == 1);
  CHECK(planning.problems[0].status == 2);
  CHECK(planning.problems[0].reason.find("gfx12010") != std::string::npos);
}

TEST_CASE("a compiler that is too old is told with the reason, and taken when it was asked for") {
  const Facts facts = with_compilers({clang("/usr/bin/clang++-15", "15.0.6"), clang("/usr/bin/clang++-19", "19.1.7")});
  const BuildPlanning planning = make_build_plan(facts, tables(), {});
  const TargetPlan& target = planning.plan.targets.at(0);
  REQUIRE(target.compilers.size() == 1);
  CHECK(target.compilers[0].compiler->path == "/usr/bin/clang++-19");
  REQUIRE(target.unable.size() == 1);
  CHECK(target.unable[0].compiler->path == "/usr/bin/clang++-15");
  CHECK(target.unable[0].verdict.reason.find("does not know gfx1201") != std::string::npos);

  const BuildPlanning asked = make_build_plan(facts, tables(), {{}, "/usr/bin/clang++-15"});
  REQUIRE(asked.plan.targets.at(0).compilers.size() == 1);
  CHECK(asked.plan.targets[0].compilers[0].compiler->path == "/usr/bin/clang++-15");

  const BuildPlanning absent = make_build_plan(facts, tables(), {{}, "/usr/bin/clang++-99"});
  REQUIRE(absent.problems.size() == 1);
  CHECK(absent.problems[0].status == 2);
}

TEST_CASE("targets without kernels say what works there instead") {
  for (const char* target : {"gfx1030", "gfx906", "gfx1010"}) {
    CHECK(without_kernels(target, tables()).reason.find("no matrix instructions for int8") != std::string::npos);
    CHECK(without_kernels(target, tables()).advice.size() == 2);
  }
  CHECK(without_kernels("gfx950", tables()).reason.find("fp8 format") != std::string::npos);
  CHECK(without_kernels("gfx908", tables()).reason.find("nothing was checked") != std::string::npos);
  CHECK(without_kernels("gfx12-generic", tables()).advice.at(0).find("gfx120") != std::string::npos);
  CHECK(without_kernels("sm_75", tables()).reason.find("sm_80") != std::string::npos);
}
