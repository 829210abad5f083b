#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "probes/wsl_conf.hpp"
#include "probes/wsl_windows.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const sage::WslConf conf(text);
  const auto value = conf.value("GPU", "Enabled");
  if (value != conf.value("gpu", "enabled")) std::abort();
  if (!value && !conf.flag("gpu", "enabled", true)) std::abort();
  const auto path = sage::linux_path(text, "/mnt/");
  if (path.ok() && !path->starts_with("/mnt/")) std::abort();
  (void)sage::parse_video_controllers(text);
  return 0;
}
