#include "probes/python_packages.hpp"

#include <doctest/doctest.h>

#include "probes/base/requirement.hpp"
#include "probes/torch_version.hpp"

namespace sage {

TEST_CASE("names of distributions are compared in their normal form") {
  CHECK(normalised_name("ROCm_SDK.Core") == "rocm-sdk-core");
  CHECK(needed_name("rocm[libraries,device-all]==7.14.*") == "rocm");
  CHECK(needed_name("Triton_ROCm (==3.5.1)") == "triton-rocm");
  CHECK(needed_name("torch@https://host/x.whl") == "torch");
  CHECK(needed_name("").empty());
}

TEST_CASE("METADATA ends at its first empty line, and requirements of extras are none") {
  const PackageMetadata metadata = parse_metadata(
      "Name: torch\r\nVersion: 2.9.1+rocm7.2\r\nRequires-Dist: triton-rocm==3.5.1; platform_system == 'Linux'\r\n"
      "Requires-Dist: opt-einsum>=3.3; extra == 'opt-einsum'\r\nVersions: 9\r\n\r\nVersion: 0\r\n");
  CHECK(metadata.version == "2.9.1+rocm7.2");
  CHECK(metadata.needs == std::vector<std::string>{"triton-rocm==3.5.1"});
  CHECK(parse_metadata("").needs.empty());
}

TEST_CASE("version.py is read as text: quoted values count, anything else is None") {
  const TorchVersion torch = parse_torch_version(
      "from typing import Optional\n__version__ = \"2.13.0+rocm10.0.0\"\ncuda: Optional[str] = None\n"
      "hip: Optional[str] = '7.15.26333'\nrocm: str | None = '10.0.0'\nxpu = open('/etc/passwd').read()\n");
  CHECK(torch.version == "2.13.0+rocm10.0.0");
  CHECK(torch.hip == "7.15.26333");
  CHECK(torch.rocm == "10.0.0");
  CHECK_FALSE(torch.cuda);
  CHECK_FALSE(torch.xpu);
  CHECK(torch.names_backends);
  CHECK_FALSE(parse_torch_version("hipster = '1'\nhip").names_backends);
}

TEST_CASE("a requirement of one exact version is held against a version, any other form is left alone") {
  CHECK(meets_requirement("triton-rocm==3.5.1", "3.5.1") == true);
  CHECK(meets_requirement("triton-rocm==3.5.1", "3.5.1+git1a2b") == true);
  CHECK(meets_requirement("triton-rocm (==3.5.1)", "3.5.2") == false);
  CHECK(meets_requirement("triton==3.5.1+rocm7.10.0a1", "3.5.1") == false);
  CHECK(meets_requirement("triton==3.5.1+rocm7.10.0a1", "3.5.1+rocm7.10.0a1") == true);
  CHECK(meets_requirement("rocm[libraries,device-all]==7.14.*", "7.14.0a20260526") == true);
  CHECK(meets_requirement("rocm==7.14.*", "7.140.0") == false);
  CHECK(meets_requirement("rocm==7.14", "7.14.0") == true);
  for (const char* open : {"triton", "triton>=3.5", "triton>=3,==3.5", "triton~=3.5", "triton==", "triton===3",
                           "triton==3.5,<4", "torch @ https://host/a==b c"}) {
    CHECK_MESSAGE(meets_requirement(open, "3.5.0") == std::nullopt, open);
  }
}

TEST_CASE("home pages with a password in them are not taken, forks are known by name") {
  const PackageMetadata metadata = parse_metadata(
      "Home-page: https://github.com/x/y\nProject-URL: Source, https://github.com/x/z\n"
      "Project-URL: Bad, https://user:pw@host/\nHome-page: UNKNOWN\n\nHome-page: https://late\n");
  CHECK(metadata.home_pages == std::vector<std::string>{"https://github.com/x/y", "https://github.com/x/z"});
  CHECK(names_sageattention("rdna4-sageattention"));
  CHECK(names_sageattention("sageattn3"));
  CHECK_FALSE(names_sageattention("sagemaker"));
}

TEST_CASE("a finder's mapping is read as text") {
  CHECK(mapped_folder("x\nMAPPING: dict[str, str] = {'torchx': '/a', 'torch': '/b c/torch'}\n", "torch") == "/b c/torch");
  CHECK(mapped_folder("MAPPING = {\"torch\": \"/b/torch\"}", "torch") == "/b/torch");
  CHECK(mapped_folder("MAPPING = {'torch': open('/b')}", "torch").empty());
  CHECK(mapped_folder("MAPPING = {'torch': '/b", "torch").empty());
  CHECK(mapped_folder("", "torch").empty());
}

}  // namespace sage
