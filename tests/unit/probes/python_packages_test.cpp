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

}  // namespace sage
