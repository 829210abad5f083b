#include "doctor/build/install/wheel.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "doctor/build/install/digest.hpp"
#include "probes/base/text.hpp"
#include "probes/host/file_calls.hpp"
#include "probes/host/live_host.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sage {
namespace {

namespace fs = std::filesystem;

WheelRequest request(const std::string& site, const std::string& version = "0.1.0") {
  return {site,
          version,
          "py3-none-linux_x86_64",
          {{"__init__.py", "version = '" + version + "'\n"},
           {"lib/x.so.1",
            "\x7f"
            "ELF"}}};
}

WheelInstalled installed(const WheelRequest& wanted) {
  const Result<WheelInstalled> done = install_wheel(wanted);
  REQUIRE_MESSAGE(done.ok(), done.error().text);
  return *done;
}

std::string contents(const std::string& path) {
  return file_calls::read_whole(path, Links::keep, 1 << 20).value_or("(unreadable)");
}

/// Every file and link below the folder with its contents; nothing that is hidden is left out.
std::map<std::string, std::string> tree(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory()) files[fs::relative(entry.path(), folder)] = contents(entry.path());
  }
  return files;
}

/// pip compiles itself as it runs.
std::map<std::string, std::string> without_bytecode(std::map<std::string, std::string> files) {
  std::erase_if(files, [](const auto& file) { return contains(file.first, "__pycache__"); });
  return files;
}

constexpr const char* python = "/usr/bin/python3";

bool can_make_venvs() {
  const auto answer = make_live_host()->run_program({python, "-c", "import ensurepip, venv"}, std::chrono::seconds(30));
  return answer.ok() && answer->exit_status == 0 && answer->signal == 0;
}

ProgramOutput run(const std::vector<std::string>& arguments) {
  const auto answer = make_live_host()->run_program(arguments, std::chrono::seconds(120));
  REQUIRE_MESSAGE(answer.ok(), answer.error().text);
  return *answer;
}

}  // namespace

TEST_CASE("a record lists every file that was installed, with digest and size") {
  const TemporaryFolder place;
  const WheelInstalled done = installed(request(place.path()));
  CHECK(done.package == place.path() + "/sage_doctor_attention");
  CHECK(done.dist_info == place.path() + "/sage_doctor_attention-0.1.0.dist-info");
  CHECK_FALSE(done.replaced);

  auto files = tree(place.path());
  const std::string record_path = "sage_doctor_attention-0.1.0.dist-info/RECORD";
  for (const std::string_view line : lines(files.at(record_path))) {
    const auto parts = split(line, ',');
    REQUIRE(parts.size() == 3);
    const auto file = files.find(std::string(parts[0]));
    REQUIRE_MESSAGE(file != files.end(), parts[0]);
    if (parts[0] == record_path) {
      CHECK((parts[1].empty() && parts[2].empty()));
    } else {
      CHECK(parts[1] == "sha256=" + sha256_base64url(file->second));
      CHECK(parts[2] == std::to_string(file->second.size()));
    }
    files.erase(file);
  }
  for (const auto& [path, bytes] : files) FAIL_CHECK("not in RECORD: " << path);
}

TEST_CASE("a newer version replaces the older one as a whole") {
  const TemporaryFolder place;
  WheelRequest old = request(place.path(), "0.1.0");
  old.files.push_back({"gone.py", "x"});
  installed(old);
  place.write("other/__init__.py", "other");
  place.write("other-1.0.dist-info/INSTALLER", "pip\n");

  CHECK(installed(request(place.path(), "0.2.0")).replaced == "0.1.0");
  const auto files = tree(place.path());
  CHECK(files.size() == 8);
  CHECK(files.at("sage_doctor_attention/__init__.py") == "version = '0.2.0'\n");
  CHECK(files.contains("sage_doctor_attention-0.2.0.dist-info/RECORD"));
  CHECK(files.contains("other/__init__.py"));

  CHECK(installed(request(place.path(), "0.2.0")).replaced == "0.2.0");
  CHECK(tree(place.path()) == files);
}

TEST_CASE("a package of that name that somebody else installed stays") {
  const TemporaryFolder place;
  place.write("sage_doctor_attention/__init__.py", "mine");
  const Result<WheelInstalled> orphan = install_wheel(request(place.path()));
  REQUIRE_FALSE(orphan.ok());
  CHECK(contains(orphan.error().text, "belongs to no installed package"));

  place.write("Sage.Doctor-attention-3.0.dist-info/INSTALLER", "pip\n");
  const Result<WheelInstalled> of_pip = install_wheel(request(place.path()));
  REQUIRE_FALSE(of_pip.ok());
  CHECK(contains(of_pip.error().text, "sage-doctor-attention 3.0 in " + place.path() + " was installed by pip"));
  CHECK(contains(of_pip.error().text, "pip uninstall sage-doctor-attention"));
  CHECK(tree(place.path()).size() == 2);
}

TEST_CASE("what an install that was killed has left is removed by the next") {
  const TemporaryFolder place;
  place.write(".sage-doctor-attention-77/sage_doctor_attention/half", "x");
  // Killed after the dist-info was in place and before the package was: it has an owner.
  place.write("sage_doctor_attention-0.0.9.dist-info/INSTALLER", "sage-doctor\n");
  place.write("sage_doctor_attention-0.1.0.dist-info/INSTALLER", "sage-doctor\n");
  installed(request(place.path()));
  const auto files = tree(place.path());
  CHECK(files.size() == 6);
  CHECK(std::none_of(files.begin(), files.end(), [](const auto& file) { return file.first.starts_with("."); }));
}

TEST_CASE("what can't be a wheel is refused before anything is written") {
  const TemporaryFolder place;
  WheelRequest bad = request(place.path());
  for (const char* path : {"../other/__init__.py", "/etc/x", "", "a,b.py", "__init__.py"}) {
    bad.files = {{"__init__.py", ""}, {path, ""}};
    CHECK_MESSAGE(!install_wheel(bad).ok(), path);
  }
  for (const char* version : {"", "1-2", "1/2", "1 2"})
    CHECK_MESSAGE(!install_wheel(request(place.path(), version)).ok(), version);
  CHECK(tree(place.path()).empty());

  CHECK_FALSE(install_wheel(request(place.path() + "/gone")).ok());
  CHECK(contains(install_wheel(request(place.write("file", ""))).error().text, "it is no folder"));
}

TEST_CASE("somebody else's environment is not written to, by root neither") {
  if (geteuid() != 0) {
    MESSAGE("not tried: only root can make a folder of another user");
    return;
  }
  const TemporaryFolder place;
  REQUIRE(chown(place.path().c_str(), 1234, 1234) == 0);
  const Result<WheelInstalled> refused = install_wheel(request(place.path()));
  REQUIRE_FALSE(refused.ok());
  CHECK(contains(refused.error().text, "belongs to user 1234"));
}

TEST_CASE("pip lists, checks and uninstalls what was installed, down to the last file") {
  if (!can_make_venvs()) {
    MESSAGE("not tried: no python3 with venv and ensurepip here");
    return;
  }
  const TemporaryFolder place;
  const std::string venv = place.path() + "/a venv";
  const ProgramOutput made = run({python, "-m", "venv", venv});
  REQUIRE_MESSAGE(made.exit_status == 0, made.errors);
  const std::string inside = venv + "/bin/python";
  const ProgramOutput where = run({inside, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"});
  const std::string site(trim(where.output));
  const auto before = without_bytecode(tree(site));

  installed(request(site, "0.1.0"));
  installed(request(site, "0.2.0"));
  // Leaves bytecode that RECORD does not list.
  const ProgramOutput imported = run({inside, "-c", "import sage_doctor_attention as s; print(s.version)"});
  CHECK_MESSAGE(imported.output == "0.2.0\n", imported.errors);
  REQUIRE(run({inside, "-m", "compileall", "-q", site + "/sage_doctor_attention"}).exit_status == 0);
  CHECK(fs::exists(site + "/sage_doctor_attention/__pycache__"));
  const ProgramOutput shown = run({inside, "-m", "pip", "show", "-f", "sage-doctor-attention"});
  CHECK(contains(shown.output, "Version: 0.2.0"));
  CHECK(contains(shown.output, "sage_doctor_attention/lib/x.so.1"));
  CHECK(run({inside, "-m", "pip", "check"}).exit_status == 0);

  const ProgramOutput gone = run({inside, "-m", "pip", "uninstall", "-y", "sage-doctor-attention"});
  CHECK_MESSAGE(gone.exit_status == 0, gone.errors);
  CHECK_FALSE(fs::exists(site + "/sage_doctor_attention"));
  CHECK(without_bytecode(tree(site)) == before);
}

}  // namespace sage
