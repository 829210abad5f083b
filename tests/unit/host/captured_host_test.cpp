#include "probes/host/captured_host.hpp"

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace sage {
namespace {

CapturedPath file(std::string contents) {
  CapturedPath entry;
  entry.contents = std::move(contents);
  return entry;
}

CapturedPath link(std::string target) {
  CapturedPath entry;
  entry.type = FileType::symlink;
  entry.target = std::move(target);
  return entry;
}

CapturedPath device(std::uint32_t mode, std::uint32_t uid, std::uint32_t gid) {
  CapturedPath entry;
  entry.type = FileType::character_device;
  entry.mode = mode;
  entry.uid = uid;
  entry.gid = gid;
  return entry;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("files are read by their path, whole or from the end") {
  Capture capture;
  capture.paths["/proc/version"] = file("Linux version 6.14");
  const auto host = make_captured_host(capture);
  CHECK(host->read_file("/proc/version") == std::string("Linux version 6.14"));
  CHECK(host->read_file("/proc/version", 18) == std::string("Linux version 6.14"));
  CHECK(host->read_file("/proc/version", 17).error() == Error{EFBIG, "/proc/version: file too large"});
  CHECK(host->read_file_end("/proc/version", 4) == std::string("6.14"));
  CHECK(host->read_file_end("/proc/version", 400) == std::string("Linux version 6.14"));
  CHECK(host->read_file("/proc/versions").error() == Error{ENOENT, "/proc/versions: no such file or directory"});
  CHECK(host->read_file("/proc").error().number == EISDIR);
  CHECK(host->read_file("/proc/version/x").error().number == ENOTDIR);
  CHECK(host->read_file("/proc/version/").error().number == ENOTDIR);
  CHECK(host->read_file("").error().number == ENOENT);
}

TEST_CASE("of a file that is only known by its end no more is given") {
  Capture capture;
  capture.paths["/lib/amdgpu.ko"] = file("signature");
  capture.paths["/lib/amdgpu.ko"].only_end = true;
  const auto host = make_captured_host(capture);
  CHECK(host->read_file("/lib/amdgpu.ko").error().number == EFBIG);
  CHECK(host->read_file_end("/lib/amdgpu.ko", 4) == std::string("ture"));
}

TEST_CASE("folders above a path exist, and their names are those that follow and those that are listed") {
  Capture capture;
  capture.paths["/sys/class/drm/card0/vendor"] = file("1");
  capture.paths["/sys/class/drm"].type = FileType::directory;
  capture.paths["/sys/class/drm"].names = {"version", "card0", "card0-DP-1"};
  capture.elf.insert_or_assign("/opt/rocm/lib/libhsa.so", ElfFacts{});
  const auto host = make_captured_host(capture);
  CHECK(host->list_folder("/sys/class/drm") == Names{"card0", "card0-DP-1", "version"});
  CHECK(host->list_folder("/sys") == Names{"class"});
  CHECK(host->list_folder("/") == Names{"opt", "sys"});
  CHECK(host->list_folder("/opt/rocm/lib") == Names{"libhsa.so"});
  CHECK(host->status("/sys/class")->type == FileType::directory);
  CHECK(host->status("/sys/class")->mode == 0755);
  CHECK(host->status("/opt/rocm/lib/libhsa.so")->type == FileType::regular);
  CHECK(host->list_folder("/sys/class/drm/card0/vendor").error().number == ENOTDIR);
  CHECK(host->list_folder("/etc").error().number == ENOENT);
  CHECK(host->status("/sys/class/drm/version").error().number == ENOENT);
}

TEST_CASE("symbolic links are followed on the way and at the end") {
  Capture capture;
  capture.paths["/sys/class/drm/card0"] = link("../../devices/gpu/drm/card0");
  capture.paths["/sys/devices/gpu/drm/card0/device"] = link("../..");
  capture.paths["/sys/devices/gpu/vendor"] = file("0x1002");
  capture.paths["/opt/rocm"] = link("/opt/rocm-7.2.0/");
  capture.paths["/opt/rocm-7.2.0/version"] = file("7.2.0");
  capture.paths["/etc/dangling"] = link("nowhere");
  const auto host = make_captured_host(capture);
  CHECK(host->read_file("/sys/class/drm/card0/device/vendor") == std::string("0x1002"));
  CHECK(host->canonical("/sys/class/drm/card0/device/vendor") == std::string("/sys/devices/gpu/vendor"));
  CHECK(host->read_file("/opt/rocm/../rocm/./version") == std::string("7.2.0"));
  CHECK(host->status("/opt/rocm")->type == FileType::directory);
  CHECK(host->status("/opt/rocm", Links::keep)->type == FileType::symlink);
  CHECK(host->read_link("/opt/rocm") == std::string("/opt/rocm-7.2.0/"));
  CHECK(host->read_link("/opt/rocm-7.2.0").error().number == EINVAL);
  CHECK(host->status("/etc/dangling").error().number == ENOENT);
  CHECK(host->status("/etc/dangling", Links::keep).ok());
  CHECK(host->canonical("/etc/dangling").error() == Error{ENOENT, "/etc/dangling: no such file or directory"});
  CHECK(host->canonical("/../..") == std::string("/"));
}

TEST_CASE("forty links are followed, not one more, and a circle is ELOOP") {
  Capture capture;
  capture.paths["/l0"] = file("end");
  for (int i = 1; i <= 41; ++i) capture.paths["/l" + std::to_string(i)] = link("l" + std::to_string(i - 1));
  capture.paths["/a"] = link("b");
  capture.paths["/b"] = link("a");
  const auto host = make_captured_host(capture);
  CHECK(host->read_file("/l40") == std::string("end"));
  CHECK(host->read_file("/l41").error().number == ELOOP);
  CHECK(host->read_file("/a").error().number == ELOOP);
  CHECK(host->access_device("/a/x") == Errno{ELOOP});
}

TEST_CASE("a relative path begins at the working folder") {
  Capture capture;
  capture.process.working_folder = "/home/user1/project";
  capture.paths["/home/user1/project/venv/pyvenv.cfg"] = file("x");
  const auto host = make_captured_host(capture);
  CHECK(host->read_file("venv/pyvenv.cfg") == std::string("x"));
  CHECK(host->canonical("..") == std::string("/home/user1"));
}

TEST_CASE("access to a device follows from its mode, its owner and the process, as in the kernel") {
  struct Case {
    std::uint32_t mode, uid, gid;
    Errno wanted;
  };
  const std::vector<Case> cases = {
      {0660, 0, 992, Errno{EACCES}},   // in no class that may
      {0660, 0, 44, Errno{0}},         // by a supplementary group
      {0660, 0, 1000, Errno{0}},       // by the process's own group
      {0640, 0, 44, Errno{EACCES}},    // reading alone is not enough
      {0666, 0, 992, Errno{0}},        // by everybody
      {0606, 0, 44, Errno{EACCES}},    // the group's bits hide those of everybody
      {0066, 1000, 44, Errno{EACCES}}, // the owner's bits hide all others
      {0600, 1000, 992, Errno{0}},
  };
  for (const Case& c : cases) {
    Capture capture;
    capture.process.groups = {27, 44};
    capture.paths["/dev/kfd"] = device(c.mode, c.uid, c.gid);
    CAPTURE(c.mode);
    CHECK(make_captured_host(capture)->access_device("/dev/kfd") == c.wanted);
    CHECK(make_captured_host(capture)->open_device("/dev/kfd") == c.wanted);
    capture.process.effective_uid = 0;
    CHECK(make_captured_host(capture)->open_device("/dev/kfd").ok());
  }
}

TEST_CASE("recorded answers win over computed ones") {
  Capture capture;
  capture.paths["/dev/kfd"] = device(0666, 0, 0);
  capture.paths["/dev/kfd"].access = Errno{0};
  capture.paths["/dev/kfd"].open = Errno{EPERM};
  capture.paths["/dev/gone"] = device(0666, 0, 0);
  capture.paths["/dev/gone"].status_error = Error{EIO, ""};
  capture.paths["/proc/kmsg"].read_error = Error{EPERM, ""};
  capture.paths["/root"].type = FileType::directory;
  capture.paths["/root"].list_error = Error{EACCES, "keep out"};
  const auto host = make_captured_host(capture);
  CHECK(host->access_device("/dev/kfd").ok());
  CHECK(host->open_device("/dev/kfd") == Errno{EPERM});
  CHECK(host->open_device("/dev/gone") == Errno{EIO});
  CHECK(host->open_device("/dev/absent") == Errno{ENOENT});
  CHECK(host->open_device("/dev") == Errno{EISDIR});
  CHECK(host->status("/dev/gone").error() == Error{EIO, "/dev/gone: input/output error"});
  CHECK(host->read_file("/proc/kmsg").error() == Error{EPERM, "/proc/kmsg: operation not permitted"});
  CHECK(host->list_folder("/root").error() == Error{EACCES, "keep out"});
  CHECK(host->read_file("/dev/kfd").error().number == EINVAL);
}

TEST_CASE("what a capture does not describe does not exist") {
  const auto host = make_captured_host(Capture{});
  CHECK(host->list_folder("/") == Names{});
  CHECK(host->kernel_log().error().number == ENOENT);
  CHECK(host->dxg_adapters().error().number == ENOENT);
  CHECK(host->drm_devices({}).error().number == ENOENT);
  CHECK(host->loader_cache().error().number == ENOENT);
  CHECK(host->libc().error().number == ENOENT);
  CHECK(host->mounts().error().number == ENOENT);
  CHECK(host->filesystem_size("/").error().number == ENOENT);
  CHECK(host->elf("/lib/x.so", {}).error().number == ENOENT);
  CHECK(host->run_program({"x"}, std::chrono::seconds(1)).error().number == ENOENT);
  CHECK(host->run_program({}, std::chrono::seconds(1)).error().number == ENOENT);
  CHECK(host->environment().empty());
}

TEST_CASE("an ELF file answers what it is asked, by way of links too") {
  Capture capture;
  ElfFacts facts;
  facts.soname = "libhsa-runtime64.so.1";
  facts.symbols = {{"hsa_init", true}, {"other", true}};
  capture.elf.insert_or_assign("/opt/rocm-7/lib/libhsa-runtime64.so.1.15", facts);
  capture.paths["/opt/rocm"] = link("rocm-7");
  capture.paths["/opt/rocm-7/lib/libhsa-runtime64.so.1"] = link("libhsa-runtime64.so.1.15");
  capture.paths["/etc/hosts"] = file("no elf");
  capture.elf.insert_or_assign("/lib/broken.so", Error{0, "broken"});
  const auto host = make_captured_host(capture);
  const auto answer = host->elf("/opt/rocm/lib/libhsa-runtime64.so.1", {{"hsa_init", "absent"}, {"librocdxg"}});
  REQUIRE(answer.ok());
  CHECK(answer->soname == "libhsa-runtime64.so.1");
  CHECK(answer->symbols == std::map<std::string, bool>{{"hsa_init", true}, {"absent", false}});
  CHECK(answer->strings == std::map<std::string, bool>{{"librocdxg", false}});
  CHECK(host->elf("/etc/hosts", {}).error().number == ENOEXEC);
  CHECK(host->elf("/lib", {}).error().number == EISDIR);
  CHECK(host->elf("/lib/broken.so", {}).error() == Error{0, "broken"});
}

TEST_CASE("libdrm answers for the render nodes that it is asked about") {
  Capture capture;
  capture.drm_devices = std::vector<DrmDeviceReply>{{"/dev/dri/renderD128", "a", "A", 1}, {"/dev/dri/renderD129", "b", "B", 2}};
  const auto host = make_captured_host(capture);
  const auto answer = host->drm_devices({"/dev/dri/renderD129", "/dev/dri/renderD130"});
  REQUIRE(answer.ok());
  REQUIRE(answer->size() == 1);
  CHECK(answer->front().marketing_name == "B");
}

}  // namespace sage
