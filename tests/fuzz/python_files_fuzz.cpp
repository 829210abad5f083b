#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "probes/base/requirement.hpp"
#include "probes/python_packages.hpp"
#include "probes/sage_install.hpp"
#include "probes/torch_targets.hpp"
#include "probes/torch_version.hpp"
#include "probes/triton_install.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const std::string& need : sage::parse_metadata(text).needs) {
    if (sage::needed_name(need).size() > need.size()) std::abort();
    (void)sage::meets_requirement(need, "3.5.1+rocm7.2");
  }
  (void)sage::parse_wheel_tags(text);
  (void)sage::parse_torch_version(text);
  (void)sage::mapped_folder(text, "torch");
  (void)sage::masks_tail(text, "/kernel.py");
  (void)sage::package_of_interest("/site", text);
  (void)sage::triton_search(text, "/driver.py");
  if (sage::triton_version(text).size() > size) std::abort();
  for (const std::string& target : sage::targets_in_names({text})) {
    if (!target.starts_with("gfx")) std::abort();
  }
  return 0;
}
