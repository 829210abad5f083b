#include "probes/look.hpp"

#include <cerrno>

#include "probes/base/text.hpp"

namespace sage {

bool is_absent(const Error& error) {
  return error.number == ENOENT || error.number == ENOTDIR;
}

Fact<bool> exists(const Host& host, const std::string& path) {
  const Result<FileStatus> status = host.status(path);
  if (status) return true;
  if (is_absent(status.error())) return false;
  return Fact<bool>::unknown(status.error());
}

Result<std::string> read_trimmed(const Host& host, const std::string& path) {
  const Result<std::string> text = host.read_file(path);
  if (!text) return text.error();
  return std::string(trim(*text));
}

Result<std::vector<std::string>> list_if_there(const Host& host, const std::string& path) {
  Result<std::vector<std::string>> names = host.list_folder(path);
  if (!names && is_absent(names.error())) return std::vector<std::string>{};
  return names;
}

}  // namespace sage
