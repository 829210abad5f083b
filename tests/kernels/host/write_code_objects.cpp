// Writes the code objects that tests in other languages need: write_code_objects FOLDER makes
//   FOLDER/gfx1201/kernels.hsaco      the emulated kernels for gfx1201
//   FOLDER/bundle/kernels.hsaco       an offload bundle for gfx1100, gfx942 and gfx1201
//   FOLDER/other/kernels.hsaco        for gfx1100 alone
#include <filesystem>
#include <iostream>

#include "emulated_objects.hpp"
#include "programs.hpp"

int main(int count, char** arguments) {
  namespace fs = std::filesystem;
  if (count != 2) {
    std::cerr << "usage: write_code_objects FOLDER\n";
    return 2;
  }
  const fs::path folder = arguments[1];
  const auto write = [&](const char* name, const sage::test::Buffer& bytes) {
    fs::create_directories(folder / name);
    sage::test::write_file(folder / name / "kernels.hsaco", std::string{sage::code_object::as_text(bytes)});
  };
  write("gfx1201", sage::test::emulated_object("gfx1201"));
  write("bundle", sage::test::emulated_bundle());
  write("other", sage::test::emulated_object("gfx1100"));
}
