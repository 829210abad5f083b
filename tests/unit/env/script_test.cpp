#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "doctor/env/quote.hpp"
#include "doctor/env/script.hpp"

namespace sage {
namespace {

namespace fs = std::filesystem;

EnvPlan sample_plan() {
  EnvPlan plan;
  plan.tier = Tier::compiler_root;
  plan.root = "/opt/rocm it's";
  plan.description = "/opt/rocm it's/bin/hipcc, ROCm 7.2.0";
  plan.mark = "sage-doctor-env/1,root=/opt/rocm%20it%27s,gpus=gfx1201";
  plan.mended = {"wsl.rocdxg"};
  plan.settings = {
      {"ROCM_PATH", SettingKind::set, {"/opt/rocm \"7\" 100%"}, "The root.", {}},
      {"PATH", SettingKind::prepend, {"/opt/rocm/bin", "/opt/rocm/llvm/bin"}, "Its programs.", {}},
      {"LD_LIBRARY_PATH", SettingKind::prepend, {"/opt/rocm/lib"}, "Libraries.", {}},
      {"MAX_JOBS", SettingKind::set, {"3"}, "Memory.", "32\nnow"},
  };
  return plan;
}

ScriptOrigin sample_origin() {
  return {"0.1.0", "2026-11-30T23:00:00Z", {{"PATH", "/usr/bin:/bin"}, {"MAX_JOBS", "32\nnow"}}};
}

std::string written(const EnvPlan& plan, Shell shell) {
  const Result<std::string> script = write_script(plan, shell, sample_origin());
  REQUIRE_MESSAGE(script.ok(), script.error().text);
  return *script;
}

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

EnvPlan plan_with(const std::string& value) {
  EnvPlan plan = sample_plan();
  plan.settings = {{"ROCM_PATH", SettingKind::set, {value}, "The root.", {}}};
  return plan;
}

std::string refusal(Shell shell, const std::string& value) {
  const Result<std::string> script = write_script(plan_with(value), shell, sample_origin());
  return script ? "" : script.error().text;
}

}  // namespace

TEST_CASE("each language quotes in its own way") {
  const std::string odd = "it's $x \"q\" \\ !\n`";
  CHECK(*quote_posix(odd) == "'it'\\''s $x \"q\" \\ !\n`'");
  CHECK(*quote_fish(odd) == "'it\\'s $x \"q\" \\\\ !\n`'");
  CHECK(*quote_csh(odd) == "'it'\\''s $x \"q\" \\ \\!\\\n`'");
  CHECK(*quote_powershell("it's \xE2\x80\x99 $x") == "'it''s \xE2\x80\x99\xE2\x80\x99 $x'");
  CHECK(*quote_tcl(odd + "[e]{}") == "\"it's \\$x \\\"q\\\" \\\\ !\\n`\\[e\\]\\{\\}\"");
  CHECK(*quote_docker("a \"b\" \\ $c") == "a \\\"b\\\" \\\\ \\$c");
  CHECK(*quote_dotenv("a \"b\" c") == "'a \"b\" c'");
  CHECK(*quote_github("a=b") == "=a=b");
  CHECK(*quote_github("a\nSAGE_DOCTOR_END\nb") == "<<SAGE_DOCTOR_END_\na\nSAGE_DOCTOR_END\nb\nSAGE_DOCTOR_END_");
}

TEST_CASE("what a language can't write is refused by the name of the variable and the reason") {
  CHECK(refusal(Shell::dotenv, "/a's") == "cannot write ROCM_PATH for dotenv: \"/a's\" has a '");
  CHECK(refusal(Shell::dotenv, "/a\nb") == "cannot write ROCM_PATH for dotenv: \"/a\\x0ab\" has a line break");
  CHECK(refusal(Shell::docker, "/a\nb").find("ROCM_PATH for docker") != std::string::npos);
  for (const Shell shell : {Shell::csh, Shell::powershell, Shell::dotenv, Shell::github, Shell::docker, Shell::json,
                            Shell::modulefile}) {
    CHECK(refusal(shell, "/a\xFF").find("no UTF-8") != std::string::npos);
  }
  for (const Shell shell : {Shell::sh, Shell::bash, Shell::dash, Shell::zsh, Shell::fish}) {
    CHECK(written(plan_with("/a\xFF"), shell).find("/a\xFF") != std::string::npos);
  }
  EnvPlan plan = sample_plan();
  for (const char* element : {"/a\nb", "/a\tb", "/a{_}b"}) {
    plan.settings[1].values = {element};
    CHECK(write_script(plan, Shell::csh, sample_origin()).error().text.find("PATH for csh") != std::string::npos);
  }
  for (const char* element : {"", "/a:b"}) {
    plan.settings[1].values = {element};
    CHECK_FALSE(write_script(plan, Shell::bash, sample_origin()).ok());
  }
}

TEST_CASE("UTF-8 is told from other bytes") {
  for (const char* text : {"", "a", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) CHECK(is_utf8(text));
  for (const char* text : {"\x80", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"}) {
    CHECK_FALSE(is_utf8(text));
  }
}

TEST_CASE("scripts are as their golden files") {
  const fs::path folder = fs::path(SAGE_TEST_SOURCE_DIR) / "tests/golden/env";
  for (const auto& [shell, name] : enum_names<Shell>) {
    // The value that every language takes, and the empty list of what one shell shares with another.
    EnvPlan plan = sample_plan();
    const fs::path file = folder / (std::string(name) + ".txt");
    const std::string script = written(plan, shell);
    // Set SAGE_WRITE_GOLDEN to write them anew; then read the difference.
    if (std::getenv("SAGE_WRITE_GOLDEN") != nullptr) std::ofstream(file, std::ios::binary) << script;
    CHECK_MESSAGE(script == contents(file), std::string(name));
  }
}

TEST_CASE("a line that fails holds nothing that a shell could take for something else") {
  for (const auto& [shell, name] : enum_names<Shell>) {
    const std::string line = failing_script(shell, "no root: '/a\"b`c$d\n!\xFF'");
    CAPTURE(line);
    CHECK(line.find("sage-doctor env: no root: ?/a?b?c?d????") != std::string::npos);
    CHECK(line.find('\n') == line.size() - 1);
  }
}

TEST_CASE("a comment stays a comment") {
  EnvPlan plan = sample_plan();
  plan.settings = {{"MAX_JOBS", SettingKind::set, {"3"}, "First\nrm -rf /", "x\nrm\\"}};
  plan.root = "/a\nexit";
  plan.notes = {"note\nexit\\"};
  for (const auto& [shell, name] : enum_names<Shell>) {
    const std::string script = written(plan, shell);
    CHECK_MESSAGE(script.find("\nrm") == std::string::npos, std::string(name));
    CHECK_MESSAGE(script.find("\nexit") == std::string::npos, std::string(name));
    CHECK_MESSAGE((shell == Shell::json || script.find("\\\n#") == std::string::npos), std::string(name));
  }
}

}  // namespace sage
