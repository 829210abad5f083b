#include "doctor/report/load_tree.hpp"

#include <doctest/doctest.h>

#include "probes/base/text.hpp"
#include "tests/support/memory_host.hpp"

namespace sage {
namespace {

void library(MemoryHost& host, const std::string& path, const std::string& soname, std::vector<std::string> needed) {
  host.file(path, path);
  ElfFacts elf;
  elf.machine = "x86_64";
  elf.soname = soname;
  elf.needed = std::move(needed);
  host.elf_files[path] = std::move(elf);
}

}  // namespace

TEST_CASE("the tree marks second copies and what is missing") {
  MemoryHost host;
  host.variables["LD_LIBRARY_PATH"] = "/l";
  library(host, "/l/ext.so", "", {"libamdhip64.so.7", "libamdhip64.so.6", "libnone.so"});
  library(host, "/l/libamdhip64.so.7", "libamdhip64.so.7", {});
  library(host, "/l/libamdhip64.so.6", "libamdhip64.so.6", {});
  LoaderFiles files(host);
  const std::string text = load_tree_text(tell_loads(files, "", {{"/l/ext.so"}}), 80);
  CHECK(contains(text, "|- libamdhip64.so.7 -> /l/libamdhip64.so.7\n|    by LD_LIBRARY_PATH\n"));
  CHECK(contains(text, "SECOND COPY of libamdhip64, beside /l/libamdhip64.so.7"));
  CHECK(contains(text, "`- libnone.so NOT FOUND: nothing leads to it"));
  CHECK(contains(text, "It can't be loaded: libnone.so missing."));
}

TEST_CASE("names from files can't steer the terminal") {
  MemoryHost host;
  library(host, "/l/ext.so", "", {"lib\033[31mred.so\n"});
  LoaderFiles files(host);
  const std::string text = load_tree_text(tell_loads(files, "", {{"/l/ext.so"}}), 80);
  CHECK_FALSE(contains(text, "\033"));
  CHECK(contains(text, "lib?[31mred.so"));
}

}  // namespace sage
