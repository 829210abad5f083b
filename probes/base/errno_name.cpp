#include "probes/base/errno_name.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

namespace sage {
namespace {

struct Entry {
  int number;
  std::string_view name;
  std::string_view text;
};

// The errors that files, devices and programs really give here; strerror() depends on the locale.
constexpr std::array entries = {
    Entry{0, "ok", "success"},
    Entry{EPERM, "EPERM", "operation not permitted"},
    Entry{ENOENT, "ENOENT", "no such file or directory"},
    Entry{ESRCH, "ESRCH", "no such process"},
    Entry{EINTR, "EINTR", "interrupted"},
    Entry{EIO, "EIO", "input/output error"},
    Entry{ENXIO, "ENXIO", "no such device or address"},
    Entry{E2BIG, "E2BIG", "argument list too long"},
    Entry{ENOEXEC, "ENOEXEC", "exec format error"},
    Entry{EBADF, "EBADF", "bad file descriptor"},
    Entry{EAGAIN, "EAGAIN", "resource temporarily unavailable"},
    Entry{ENOMEM, "ENOMEM", "cannot allocate memory"},
    Entry{EACCES, "EACCES", "permission denied"},
    Entry{EFAULT, "EFAULT", "bad address"},
    Entry{EBUSY, "EBUSY", "device or resource busy"},
    Entry{EEXIST, "EEXIST", "file exists"},
    Entry{ENODEV, "ENODEV", "no such device"},
    Entry{ENOTDIR, "ENOTDIR", "not a directory"},
    Entry{EISDIR, "EISDIR", "is a directory"},
    Entry{EINVAL, "EINVAL", "invalid argument"},
    Entry{ENFILE, "ENFILE", "too many open files in system"},
    Entry{EMFILE, "EMFILE", "too many open files"},
    Entry{ENOTTY, "ENOTTY", "inappropriate ioctl for device"},
    Entry{ETXTBSY, "ETXTBSY", "text file busy"},
    Entry{EFBIG, "EFBIG", "file too large"},
    Entry{ENOSPC, "ENOSPC", "no space left on device"},
    Entry{EROFS, "EROFS", "read-only file system"},
    Entry{EPIPE, "EPIPE", "broken pipe"},
    Entry{ENAMETOOLONG, "ENAMETOOLONG", "file name too long"},
    Entry{ENOSYS, "ENOSYS", "function not implemented"},
    Entry{ELOOP, "ELOOP", "too many levels of symbolic links"},
    Entry{ENODATA, "ENODATA", "no data available"},
    Entry{ETIME, "ETIME", "timer expired"},
    Entry{EPROTO, "EPROTO", "protocol error"},
    Entry{EOVERFLOW, "EOVERFLOW", "value too large"},
    Entry{EOPNOTSUPP, "EOPNOTSUPP", "operation not supported"},
    Entry{ETIMEDOUT, "ETIMEDOUT", "timed out"},
    Entry{EHOSTDOWN, "EHOSTDOWN", "host is down"},
    Entry{ESTALE, "ESTALE", "stale file handle"},
};

constexpr std::string_view number_prefix = "errno ";

}  // namespace

std::string errno_name(Errno error) {
  for (const Entry& entry : entries) {
    if (entry.number == error.value) return std::string(entry.name);
  }
  return std::string(number_prefix) + std::to_string(error.value);
}

Result<Errno> errno_from_name(std::string_view name) {
  for (const Entry& entry : entries) {
    if (entry.name == name) return Errno{entry.number};
  }
  if (name.starts_with(number_prefix)) {
    const std::string_view digits = name.substr(number_prefix.size());
    int number = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (status == std::errc() && end == digits.data() + digits.size() && number > 0) return Errno{number};
  }
  return Error{0, "unknown errno name '" + std::string(name) + "'"};
}

std::string errno_text(Errno error) {
  for (const Entry& entry : entries) {
    if (entry.number == error.value) return std::string(entry.text);
  }
  return errno_name(error);
}

Error system_error(int number, std::string_view what) {
  return {number, std::string(what) + ": " + errno_text(Errno{number})};
}

}  // namespace sage
