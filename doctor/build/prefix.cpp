#include "doctor/build/prefix.hpp"

#include <filesystem>

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
  const auto variables = host.environment();
  const auto data = variables.find("XDG_DATA_HOME");
  if (data != variables.end() && data->second.starts_with('/')) return data->second + "/sage-doctor";
  if (!process.home.starts_with('/')) {
    return Error{0, "there is no home folder to install into: name a folder with --prefix"};
  }
  return process.home + "/.local/share/sage-doctor";
}

}  // namespace sage
