#include "doctor/report/evidence_place.hpp"

#include <doctest/doctest.h>

namespace sage {
namespace {

std::string told(std::string_view source) {
  const auto place = evidence_place(source);
  if (!place) return "no file";
  return place->uri + (place->line ? " " + std::to_string(*place->line) : "");
}

}  // namespace

TEST_CASE("evidence that is a file has a URI, and a line where it names one") {
  CHECK(told("/dev/kfd") == "file:///dev/kfd");
  CHECK(told("/etc/environment line 2") == "file:///etc/environment 2");
  CHECK(told("/etc/wsl.conf [gpu] enabled") == "file:///etc/wsl.conf");
  CHECK(told("/home/u/My Files/a.cfg line 3") == "file:///home/u/My%20Files/a.cfg 3");
  CHECK(told("/home/\xff/x") == "file:///home/%FF/x");
  CHECK(told("/sys/bus/pci/devices/0000:03:00.0/driver") == "file:///sys/bus/pci/devices/0000%3A03%3A00.0/driver");
  CHECK(told("/tmp/build.log:123") == "file:///tmp/build.log 123");
  CHECK(told("//etc/./hosts") == "file:///etc/hosts");
}

TEST_CASE("a line of a log is a file by its relative name") {
  CHECK(told("build.log:123") == "build.log 123");
  CHECK(told("./logs/a b.log:7") == "logs/a%20b.log 7");
  CHECK(told("logs/a:b.log:7") == "logs/a%3Ab.log 7");
  CHECK(told("build.log:0") == "no file");
  CHECK(told("build.log:99999999999999999999") == "no file");
}

TEST_CASE("evidence that is no one file has no URI") {
  for (const char* source : {"", "/", "HSA_OVERRIDE_GFX_VERSION", "KFD node", "dxg:0", "0000:03:00.0",
                             "/dev/dxg adapter AMD Radeon", "Secure Boot", "/sys/class/kfd/kfd/topology/nodes/*/gpu_id",
                             "/home/u/torch/lib/../../x.so", "../x.log:3", ":3"}) {
    CHECK_MESSAGE(told(source) == "no file", source);
  }
}

}  // namespace sage
