// Usage: gate_hipcc DEVICE_TEXT. The whole text through hipcc for gfx90a, without device libraries and headers. This
// compiler is old (5.2.3 on Debian 12) and may spill; what it makes has to be complete and right. Status 77: no hipcc.
#include <cstdio>
#include <string>

#include "object_check.hpp"
#include "programs.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (sage::test::find_program("hipcc").empty()) {
    std::printf("skipped: hipcc is not on PATH\n");
    return 77;
  }
  const sage::test::TemporaryFolder folder;
  const auto output = folder.path() / "gfx90a.hsaco";
  const auto outcome = sage::test::run("hipcc --genco --offload-arch=gfx90a -nogpulib -nogpuinc -std=c++17 -O3 -o '" +
                                       output.string() + "' '" + std::string{argv[1]} + "'");
  if (outcome.status != 0) {
    std::printf("FAIL hipcc ended with status %d:\n%s\n", outcome.status, outcome.output.c_str());
    return 1;
  }
  return sage::gates::check_old_object(sage::test::read_file(output), "gfx90a", 0) ? 0 : 1;
}
