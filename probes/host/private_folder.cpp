#include "probes/host/private_folder.hpp"

#include <cerrno>
#include <cstdlib>

#include "probes/base/errno_name.hpp"

namespace sage {

Result<std::string> make_private_folder() {
  const char* wanted = std::getenv("TMPDIR");
  std::string last_error;
  for (const std::string& place : {std::string(wanted == nullptr ? "" : wanted), std::string("/tmp")}) {
    if (place.empty()) continue;
    std::string folder = place + "/sage-doctor-XXXXXX";
    if (mkdtemp(folder.data()) != nullptr) return folder;
    last_error = system_error(errno, "no private folder can be made in " + place).text;
  }
  return Error{0, last_error + "; TMPDIR can name another place"};
}

}  // namespace sage
