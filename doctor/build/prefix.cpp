#include "doctor/build/prefix.hpp"

#include <filesystem>

#include "probes/installation.hpp"

namespace sage {

Result<std::string> prefix_for(const std::string& given, const Host& host) {
  const ProcessIdentity process = host.process();
  if (!given.empty()) {
    const std::filesystem::path path = given.starts_with('/') ? std::filesystem::path(given)
                                                              : std::filesystem::path(process.working_folder) / given;
    std::string text = path.lexically_normal().string();
    while (text.size() > 1 && text.ends_with('/')) text.pop_back();
    return text;
  }
  const std::string prefix = default_prefix(host);
  if (prefix.empty()) return Error{0, "there is no home folder to install into: name a folder with --prefix"};
  return prefix;
}

}  // namespace sage
