#include "doctor/build/python_package.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "tests/support/temporary_folder.hpp"

using namespace sage;

TEST_CASE("the Python package gets the kernels, and the choice among them that lies beside") {
  const TemporaryFolder folder;
  const std::filesystem::path site = folder.folder() / "site-packages";
  const std::filesystem::path installation = folder.folder() / "installation";
  std::filesystem::create_directories(site);
  for (const char* file : {"lib/libsage_attention.so.1", "kernels/gfx1201-a.hsaco", "kernels/tuning.txt", "src/sage_kernels.hip"}) {
    folder.write(std::string("installation/") + file, file);
  }
  Manifest manifest;
  manifest.tool_version = "0.1.0";
  manifest.library.file = "lib/libsage_attention.so.1";
  manifest.targets.resize(1);
  manifest.targets[0].kernels.resize(1);
  manifest.targets[0].kernels[0].file = "kernels/gfx1201-a.hsaco";
  manifest.other_files = {{"src/sage_kernels.hip", ""}, {"kernels/tuning.txt", ""}};
  const Result<WheelInstalled> installed = install_package(site.string(), installation.string(), manifest);
  REQUIRE(installed.ok());
  const std::filesystem::path package = installed->package;
  for (const char* file : {"__init__.py", "bench.py", "lib/libsage_attention.so.1", "kernels/gfx1201-a.hsaco", "kernels/tuning.txt"}) {
    CAPTURE(file);
    CHECK(std::filesystem::exists(package / file));
  }
  CHECK(!std::filesystem::exists(package / "src"));
}
