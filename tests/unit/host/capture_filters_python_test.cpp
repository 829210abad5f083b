#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "probes/host/capture.hpp"
#include "probes/host/capture_filters.hpp"

namespace sage {
namespace {

CapturedPath file(std::string contents) {
  CapturedPath entry;
  entry.contents = std::move(contents);
  return entry;
}

CapturedPath folder(std::vector<std::string> names) {
  CapturedPath entry;
  entry.type = FileType::directory;
  entry.names = std::move(names);
  return entry;
}

}  // namespace

TEST_CASE("of Python environments a capture keeps what decides, and neither authors nor code nor projects") {
  const std::string site = "/home/u/venv/lib/python3.12/site-packages";
  Capture capture;
  capture.process.home = "/home/u";
  capture.environment["PYTHONPATH"] = "/home/u/work:/gone";
  capture.paths["/home/u/work"] = folder({"secret-customer", "torch"});
  capture.paths["/srv/clients"] = folder({"acme", "triton"});
  capture.paths[site + "/x.pth"] = file("# mine\nimport secrets; run()\n/srv/clients\n");
  capture.paths[site + "/torch-2.9.1.dist-info/METADATA"] =
      file("Name: torch\nVersion: 2.9.1\nAuthor-email: a@b.c\nRequires-Dist: filelock\n\nVersion: hello from Anna\n");
  capture.paths[site + "/torch-2.9.1.dist-info/WHEEL"] = file("Generator: x\nTag: cp312-cp312-linux_x86_64\n");
  capture.paths["/home/u/venv/pyvenv.cfg"] = file("home = /usr/bin\ncommand = /x --prompt Anna\nVersion = 3.12.3\n");
  capture.paths[site + "/torch/notes.py"] = file("token");

  filter_capture(capture);

  const auto contents = [&](const std::string& path) { return capture.paths.at(path).contents.value_or("(none)"); };
  CHECK(capture.paths.at("/home/u/work").names == std::vector<std::string>{"torch"});
  CHECK(capture.paths.at("/srv/clients").names == std::vector<std::string>{"triton"});
  CHECK(contents(site + "/x.pth") == "\n\n/srv/clients\n");
  CHECK(contents(site + "/torch-2.9.1.dist-info/METADATA") == "Name: torch\nVersion: 2.9.1\nRequires-Dist: filelock\n");
  CHECK(contents(site + "/torch-2.9.1.dist-info/WHEEL") == "\nTag: cp312-cp312-linux_x86_64\n");
  CHECK(contents("/home/u/venv/pyvenv.cfg") == "home = /usr/bin\n\nVersion = 3.12.3\n");
  CHECK(contents(site + "/torch/notes.py") == "(none)");
}

TEST_CASE("of a kernel, a finder and settings of version managers a capture keeps the lines that decide") {
  const std::string site = "/home/u/venv/lib/python3.12/site-packages";
  Capture capture;
  capture.paths[site + "/sageattention/attn_qk_int8_per_block.py"] = file("# by Anna\nk_mask = offs_n < 3\nsecret\n");
  capture.paths[site + "/__editable___torch_2_9_0_finder.py"] = file("import sys\nMAPPING = {'torch': '/src/torch'}\n");
  capture.paths["/home/u/mise.toml"] = file("[env]\nTOKEN = \"x\"\npython = \"3.12\"\n");
  capture.paths[site + "/sageattention-1.0.6.dist-info/METADATA"] =
      file("Name: sageattention\nHome-page: https://github.com/x/y\nProject-URL: A, https://u:pw@host/\nAuthor: Anna\n");

  filter_capture(capture);

  const auto contents = [&](const std::string& path) { return capture.paths.at(path).contents.value_or("(none)"); };
  CHECK(contents(site + "/sageattention/attn_qk_int8_per_block.py") == "\nk_mask = offs_n < 3\n\n");
  CHECK(contents(site + "/__editable___torch_2_9_0_finder.py") == "\nMAPPING = {'torch': '/src/torch'}\n");
  CHECK(contents("/home/u/mise.toml") == "\n\npython = \"3.12\"\n");
  CHECK(contents(site + "/sageattention-1.0.6.dist-info/METADATA") ==
        "Name: sageattention\nHome-page: https://github.com/x/y\n");
}

TEST_CASE("of PyTorch's and Triton's sources a capture keeps the lines by which they search") {
  const std::string site = "/home/u/venv/lib/python3.12/site-packages";
  const std::string rules = "def _find_rocm_home() -> str | None:\n    spec = find_spec('_rocm_sdk_core')\n\n";
  const std::string takes = "        if Path(env_libhip_path).name.startswith(lib_name):\n";
  Capture capture;
  capture.paths[site + "/torch/utils/cpp_extension.py"] = file("import os\n" + rules + "def _other():\n    token = 1\n");
  capture.paths[site + "/triton/__init__.py"] = file("import secret\n__version__ = '3.9.0'\n");
  capture.paths[site + "/triton/backends/amd/driver.py"] = file("x = 1\n" + takes + "    hip = [\"hipconfig\", \"--path\"]\n");
  capture.paths[site + "/triton/backends/amd/compiler.py"] = file("y = 2\n    lld = Path(\"/usr/bin/ld.lld\")\n");

  filter_capture(capture);

  const auto contents = [&](const std::string& path) { return capture.paths.at(site + path).contents.value_or("(none)"); };
  CHECK(contents("/torch/utils/cpp_extension.py") == rules);
  CHECK(contents("/triton/__init__.py") == "__version__ = '3.9.0'\n");
  CHECK(contents("/triton/backends/amd/driver.py") == takes + "    hip = [\"hipconfig\", \"--path\"]\n");
  CHECK(contents("/triton/backends/amd/compiler.py") == "    lld = Path(\"/usr/bin/ld.lld\")\n");
}

}  // namespace sage
