#include "probes/host/live_host.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "probes/host/file_calls.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sage {
namespace {

/// The errno of a Result that must have failed.
template <class T>
int failure(const Result<T>& result) {
  return result.ok() ? 0 : result.error().number;
}

}  // namespace

TEST_CASE("a file is read whole, up to its cap and not a byte more") {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", std::string(10'000, 'x'));
  const auto host = make_live_host();
  CHECK(*host->read_file(path) == std::string(10'000, 'x'));
  CHECK(host->read_file(path, 10'000)->size() == 10'000);
  CHECK(failure(host->read_file(path, 9'999)) == EFBIG);
  CHECK(host->read_file(folder.write("empty", ""), 0)->empty());
  CHECK(failure(host->read_file(folder.path("none"))) == ENOENT);
  CHECK(host->read_file(folder.path("none")).error().text == folder.path("none") + ": no such file or directory");
}

TEST_CASE("files of the kernel that do not tell their size are read to the end") {
  const auto host = make_live_host();
  CHECK(host->read_file("/proc/self/status")->find("Threads:") != std::string::npos);
  CHECK_FALSE(host->read_file("/sys/kernel/mm/transparent_hugepage/enabled").value_or("none").empty());
  CHECK(host->read_file("/proc/sys/kernel/osrelease", 4095).ok());
}

TEST_CASE("the end of a file is read without the rest") {
  const TemporaryFolder folder;
  const auto host = make_live_host();
  const std::string path = folder.write("file", "0123456789");
  CHECK(*host->read_file_end(path, 3) == "789");
  CHECK(*host->read_file_end(path, 100) == "0123456789");
  const std::string sparse = folder.write("sparse", "");
  std::filesystem::resize_file(sparse, std::uintmax_t{1} << 40);
  CHECK(*host->read_file_end(sparse, 2) == std::string(2, '\0'));
  CHECK(failure(host->read_file(sparse)) == EFBIG);
}

TEST_CASE("what is not a regular file is not read and blocks nobody") {
  const TemporaryFolder folder;
  const std::string fifo = folder.path("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const auto host = make_live_host();
  CHECK(failure(host->read_file(fifo)) == EINVAL);
  CHECK(failure(host->read_file_end(fifo, 10)) == EINVAL);
  CHECK(failure(host->elf(fifo, {})) == EINVAL);
  CHECK(failure(host->read_file("/dev/zero")) == EINVAL);
  CHECK(failure(host->read_file(folder.path())) == EISDIR);
  CHECK(failure(host->list_folder(fifo)) == ENOTDIR);
  CHECK(host->status(fifo)->type == FileType::other);
}

TEST_CASE("names in a folder are sorted and limited in number") {
  const TemporaryFolder folder;
  folder.write("b", "");
  folder.write("a/inner", "");
  const auto host = make_live_host();
  CHECK(*host->list_folder(folder.path()) == std::vector<std::string>{"a", "b"});

  CHECK(failure(host->list_folder(folder.path("none"))) == ENOENT);
  CHECK(file_calls::list(folder.path(), Links::keep, 2)->size() == 2);
  CHECK(failure(file_calls::list(folder.path(), Links::keep, 1)) == EFBIG);
}

TEST_CASE("status tells type, permissions, owner and device numbers") {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", "12345");
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  std::filesystem::create_symlink("file", folder.path("link"));
  const auto host = make_live_host();
  const auto file = host->status(folder.path("link"));
  REQUIRE(file.ok());
  CHECK(file->type == FileType::regular);
  CHECK(file->mode == 0640);
  CHECK(file->uid == geteuid());
  CHECK(file->size == 5);
  CHECK(file->inode == host->status(path)->inode);
  CHECK(host->status(folder.path("link"), Links::keep)->type == FileType::symlink);

  const auto null = host->status("/dev/null");
  REQUIRE(null.ok());
  CHECK(null->type == FileType::character_device);
  CHECK(null->device_major == 1);
  CHECK(null->device_minor == 3);
}

TEST_CASE("links are followed as the kernel follows them") {
  const TemporaryFolder folder;
  folder.write("real/deep/file", "here");
  std::filesystem::create_symlink("real/deep", folder.path("short"));
  std::filesystem::create_symlink(folder.path("short") + "/../deep", folder.path("round"));
  std::filesystem::create_symlink("loop", folder.path("loop"));
  std::filesystem::create_symlink("nowhere", folder.path("dangling"));
  const auto host = make_live_host();
  CHECK(*host->read_file(folder.path("short/file")) == "here");
  CHECK(*host->read_file(folder.path("round/./file")) == "here");
  CHECK(*host->canonical(folder.path("round/file")) == folder.path("real/deep/file"));
  CHECK(*host->canonical(folder.path("round//file/")) == folder.path("real/deep/file"));
  CHECK(*host->read_link(folder.path("short")) == "real/deep");
  CHECK(failure(host->read_link(folder.path("real"))) == EINVAL);
  CHECK(failure(host->read_file(folder.path("loop"))) == ELOOP);
  CHECK(failure(host->canonical(folder.path("loop/file"))) == ELOOP);
  CHECK(failure(host->status(folder.path("dangling"))) == ENOENT);
  CHECK(host->status(folder.path("dangling"), Links::keep).ok());
  CHECK(failure(host->status(folder.path("real/deep/file/x"))) == ENOTDIR);
}

TEST_CASE("forty links in a row are followed, one more is a loop") {
  const TemporaryFolder folder;
  folder.write("0", "end");
  for (int i = 1; i <= 41; ++i) {
    std::filesystem::create_symlink(std::to_string(i - 1), folder.path(std::to_string(i)));
  }
  const auto host = make_live_host();
  CHECK(*host->read_file(folder.path("40")) == "end");
  CHECK(failure(host->read_file(folder.path("41"))) == ELOOP);
}

TEST_CASE("impossible paths are errors") {
  const auto host = make_live_host();
  CHECK(failure(host->read_file("")) == ENOENT);
  CHECK(failure(host->read_file(std::string("/etc/passwd\0x", 13))) == EINVAL);
  CHECK(failure(host->read_file("/" + std::string(5000, 'x'))) == ENAMETOOLONG);
  CHECK(failure(host->read_file("/" + std::string(300, 'x'))) == ENAMETOOLONG);
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "/.";
  CHECK(host->status(deep)->type == FileType::directory);
}

TEST_CASE("devices are tried and closed again") {
  const TemporaryFolder folder;
  const auto host = make_live_host();
  CHECK(host->open_device("/dev/null") == Errno{});
  CHECK(host->access_device("/dev/null") == Errno{});
  CHECK(host->open_device(folder.path("kfd")) == Errno{ENOENT});
  CHECK(host->access_device(folder.path("kfd")) == Errno{ENOENT});
  CHECK(host->open_device(folder.path()) == Errno{EISDIR});
}

TEST_CASE("only allowed variables are seen") {
  setenv("SAGE_TEST_SECRET_TOKEN", "hidden", 1);
  setenv("HSA_OVERRIDE_GFX_VERSION_2", "11.0.0", 1);
  setenv("HSA_XNACK", "", 1);
  const auto environment = make_live_host()->environment();
  unsetenv("SAGE_TEST_SECRET_TOKEN");
  unsetenv("HSA_OVERRIDE_GFX_VERSION_2");
  unsetenv("HSA_XNACK");
  CHECK_FALSE(environment.contains("SAGE_TEST_SECRET_TOKEN"));
  CHECK(environment.at("HSA_OVERRIDE_GFX_VERSION_2") == "11.0.0");
  CHECK(environment.at("HSA_XNACK").empty());
}

TEST_CASE("the machine tells of itself") {
  const auto host = make_live_host();
  const ProcessIdentity process = host->process();
  CHECK(process.uid == getuid());
  CHECK(process.gid == getegid());
  CHECK_FALSE(process.user.empty());
  CHECK_FALSE(process.host_name.empty());
  CHECK(process.working_folder == std::filesystem::current_path());
  CHECK(process.usable_cpus >= 1);
  CHECK(host->now() > 1'700'000'000);
  const auto mounts = host->mounts();
  REQUIRE(mounts.ok());
  // Not "/": in a chroot that is no mount point.
  CHECK_FALSE(mounts->empty());
  CHECK(std::all_of(mounts->begin(), mounts->end(), [](const Mount& m) { return m.point.starts_with('/'); }));
  CHECK_FALSE(host->libc()->name.empty());
  CHECK(*host->filesystem_size("/") > 0);
}

}  // namespace sage
