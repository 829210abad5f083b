#include "doctor/cli/file_output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "probes/base/errno_name.hpp"
#include "probes/host/file_calls.hpp"

namespace sage {
namespace {

/// The mode of a file made here: that of the file it replaces, else what the umask leaves of 0644.
mode_t wanted_mode(const std::string& path) {
  struct stat old {};
  if (stat(path.c_str(), &old) == 0) return old.st_mode & 07777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0644 & ~mask;
}

std::string behind_links(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string result = resolved;
  std::free(resolved);
  return result;
}

}  // namespace

std::optional<Error> write_file(const std::string& given, std::string_view text) {
  const std::string path = behind_links(given);
  struct stat there {};
  if (stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    return Error{0, "cannot write " + given + ": it is no regular file"};
  }
  std::string temporary = path + ".XXXXXX";
  const mode_t mode = wanted_mode(path);
  const int descriptor = mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return system_error(errno, "cannot write " + given);
  const bool written =
      file_calls::write_all(descriptor, text) && fchmod(descriptor, mode) == 0 && fsync(descriptor) == 0;
  const int problem = errno;
  const bool closed = close(descriptor) == 0;
  if (!written || !closed || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const Error error = system_error(written ? errno : problem, "cannot write " + given);
    unlink(temporary.c_str());
    return error;
  }
  return std::nullopt;
}

}  // namespace sage
