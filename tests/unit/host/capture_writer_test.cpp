#include "probes/host/capture_writer.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "probes/base/text.hpp"
#include "probes/host/capture_filters.hpp"
#include "probes/host/capture_reader.hpp"
#include "probes/host/capture_redaction.hpp"
#include "probes/host/captured_host.hpp"
#include "probes/host/recording_host.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sage {
namespace {

namespace fs = std::filesystem;

const fs::path samples = fs::path(SAGE_TEST_SOURCE_DIR) / "tests/unit/host/data";

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

Capture sample() {
  Result<Capture> capture = read_capture(samples / "everything");
  REQUIRE_MESSAGE(capture.ok(), capture.error().text);
  return *capture;
}

/// Writes and reads back.
Capture round_trip(const Capture& capture, const Redaction& redaction = {}) {
  const TemporaryFolder place;
  const auto written = write_capture(capture, place.folder() / "x", redaction);
  REQUIRE_MESSAGE(written.ok(), written.error().text);
  Result<Capture> back = read_capture(place.folder() / "x");
  REQUIRE_MESSAGE(back.ok(), back.error().text);
  return *back;
}

template <class T>
std::string text_of(const Result<T>& answer) {
  if (!answer.ok()) return errno_name(Errno{answer.error().number}) + " " + answer.error().text;
  if constexpr (std::is_same_v<T, std::string>) return "'" + *answer + "'";
  if constexpr (std::is_same_v<T, std::uint64_t>) return std::to_string(*answer);
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return join(*answer, "|");
  if constexpr (std::is_same_v<T, FileStatus>) {
    return std::string(enum_name(answer->type)) + " " + std::to_string(answer->mode) + " " +
           std::to_string(answer->uid) + " " + std::to_string(answer->gid) + " " +
           std::to_string(answer->device_major) + ":" + std::to_string(answer->device_minor) + " " +
           std::to_string(answer->size) + " " + std::to_string(answer->inode);
  }
  if constexpr (std::is_same_v<T, ElfFacts>) {
    std::string text = answer->machine + answer->soname + join(answer->needed, "|") + join(answer->runpath, "|");
    for (const auto& [name, there] : answer->symbols) text += name + (there ? "+" : "-");
    for (const auto& [name, there] : answer->strings) text += name + (there ? "+" : "-");
    for (const ElfVersionNeed& need : answer->version_needs) text += need.library + join(need.versions, "|");
    text += join(answer->version_definitions, "|");
    if (answer->device_code) text += join(answer->device_code->targets, "|");
    return text;
  }
  if constexpr (std::is_same_v<T, ProgramOutput>) {
    return std::to_string(answer->exit_status) + std::to_string(answer->signal) + answer->output + answer->errors;
  }
  return "a value";
}

/// Every question about each path, with the answers in words.
std::vector<std::string> interview(const Host& host, const std::vector<std::string>& paths) {
  std::vector<std::string> answers;
  for (const std::string& path : paths) {
    const auto say = [&](const std::string& what, const std::string& answer) {
      answers.push_back(what + " " + path + ": " + answer);
    };
    say("read", text_of(host.read_file(path)));
    say("read end", text_of(host.read_file_end(path, 12)));
    say("list", text_of(host.list_folder(path)));
    say("status", text_of(host.status(path)));
    say("status of link", text_of(host.status(path, Links::keep)));
    say("link", text_of(host.read_link(path)));
    say("canonical", text_of(host.canonical(path)));
    say("access", errno_name(host.access_device(path)));
    say("open", errno_name(host.open_device(path)));
    say("size", text_of(host.filesystem_size(path)));
    say("elf", text_of(host.elf(path, {{"hsa_init", "nothing"}, {"librocdxg.so"}, true, true})));
  }
  answers.push_back(text_of(host.kernel_log()));
  answers.push_back(text_of(host.mounts()));
  answers.push_back(text_of(host.libc()));
  answers.push_back(text_of(host.loader_cache()));
  answers.push_back(text_of(host.dxg_adapters()));
  answers.push_back(text_of(host.drm_devices({"/dev/dri/renderD128"})));
  answers.push_back(text_of(host.run_program({"hang"}, std::chrono::seconds(1))));
  answers.push_back(text_of(host.run_program({"nothing"}, std::chrono::seconds(1))));
  answers.push_back(std::to_string(host.now()));
  for (const auto& [name, value] : host.environment()) answers.push_back(name + "=" + value);
  return answers;
}

void check_same(const std::vector<std::string>& replayed, const std::vector<std::string>& recorded) {
  REQUIRE(replayed.size() == recorded.size());
  for (std::size_t i = 0; i < recorded.size(); ++i) CHECK(replayed[i] == recorded[i]);
}

fs::perms mode_of(const fs::path& path) {
  return fs::status(path).permissions();
}

}  // namespace

TEST_CASE("a replay answers as the recorded machine did, failures included") {
  Capture capture = sample();
  capture.paths["/sys/class/drm/card0"] = link("../../devices/gpu/card0");
  capture.paths["/sys/devices/gpu/card0/vendor"] = file("0x1002\n");
  capture.paths["/sys/devices/gpu/card0/vendor"].size = 4096;
  capture.paths["/sys/devices/gpu/card0/binary"] = file(std::string("\x07\0\0\xff\x01", 5));
  capture.paths["/sys/loop"] = link("loop");
  capture.paths["/etc/os-release"].mode = 0640;
  const std::vector<std::string> paths = {
      "/",
      "/dev/kfd",
      "/dev/loop0",
      "/run/socket",
      "/lib/modules/amdgpu.ko",
      "/proc/kmsg",
      "/srv/private/.profile",
      "/srv/private",
      "/sys/odd",
      "/opt",
      "/opt/rocm",
      "/opt/rocm/",
      "/opt/rocm/lib/libhsa-runtime64.so.1",
      "/opt/rocm/lib/libbroken.so",
      "/var/secret",
      "/var",
      "/etc/os-release",
      "/etc/os-release/x",
      "/sys/class/drm/card0/vendor",
      "/sys/class/drm/card0/binary",
      "/sys/class/drm",
      "/sys/loop",
      "/sys/loop/x",
      "/absent",
      "/absent/x",
      "",
      "relative",
      "/mnt/gone",
      "/dev/shm",
  };
  const auto machine = make_captured_host(capture);
  const RecordingHost recorder(*machine);
  const auto recorded = interview(recorder, paths);
  check_same(recorded, interview(*machine, paths));
  check_same(interview(*make_captured_host(recorder.capture()), paths), recorded);
  check_same(interview(*make_captured_host(round_trip(recorder.capture())), paths), recorded);
}

TEST_CASE("a second answer adds to the first") {
  Capture capture;
  capture.paths["/sys/long"] = file(std::string(1000, 'x'));
  ElfFacts facts;
  facts.symbols = {{"a", true}};
  facts.strings = {{"s", true}};
  facts.version_needs = {{"libc.so.6", {"GLIBC_2.34"}}};
  facts.version_definitions = {"V_1"};
  facts.device_code = ElfDeviceCode{false, true, false, {"gfx1201"}};
  capture.elf.insert_or_assign("/lib/l.so", facts);
  capture.drm_devices =
      std::vector<DrmDeviceReply>{{"/dev/dri/renderD128", "a", "A", 1}, {"/dev/dri/renderD129", "b", "B", 2}};
  const auto machine = make_captured_host(capture);
  const RecordingHost recorder(*machine);
  CHECK(recorder.read_file("/sys/long", 10).error().number == EFBIG);
  CHECK(recorder.read_file("/sys/long", 1000).ok());
  CHECK(recorder.read_file("/sys/long", 10).error().number == EFBIG);
  CHECK(recorder.elf("/lib/l.so", {{"a"}, {}, true, false}).ok());
  CHECK(recorder.elf("/lib/l.so", {{}, {}, false, true}).ok());
  CHECK(recorder.elf("/lib/l.so", {{"b"}, {"s"}}).ok());
  CHECK(recorder.drm_devices({"/dev/dri/renderD128"}).ok());
  CHECK(recorder.drm_devices({"/dev/dri/renderD129"}).ok());
  const auto replay = make_captured_host(round_trip(recorder.capture()));
  CHECK(replay->read_file("/sys/long", 1000) == std::string(1000, 'x'));
  CHECK(replay->read_file("/sys/long", 10).error().number == EFBIG);
  const auto elf = replay->elf("/lib/l.so", {{"a", "b"}, {"s"}});
  CHECK(elf->symbols == std::map<std::string, bool>{{"a", true}, {"b", false}});
  CHECK(elf->strings == std::map<std::string, bool>{{"s", true}});
  CHECK(elf->version_needs.empty());
  CHECK_FALSE(elf->device_code.has_value());
  const auto more = replay->elf("/lib/l.so", {{}, {}, true, true});
  CHECK(more->version_needs == facts.version_needs);
  CHECK(more->version_definitions == facts.version_definitions);
  CHECK(more->device_code == facts.device_code);
  CHECK(replay->drm_devices({"/dev/dri/renderD128", "/dev/dri/renderD129"})->size() == 2);
}

TEST_CASE("the end of a file that is too long to read is kept beside that error") {
  Capture capture;
  capture.paths["/lib/a.ko"] = file("0123456789~Module signature appended~\n");
  const auto machine = make_captured_host(capture);
  const RecordingHost recorder(*machine);
  CHECK(recorder.read_file("/lib/a.ko", 5).error().number == EFBIG);
  CHECK(recorder.read_file_end("/lib/a.ko", 28).ok());
  const auto replay = make_captured_host(round_trip(recorder.capture()));
  CHECK(replay->read_file_end("/lib/a.ko", 28) == std::string("~Module signature appended~\n"));
  CHECK(replay->read_file("/lib/a.ko").error().number == EFBIG);
}

TEST_CASE("numbers and bytes beyond what TOML can hold do not stop the writer") {
  Capture capture;
  capture.filesystem_sizes.insert_or_assign("/", ~std::uint64_t{0});
  capture.paths["/dev/x"].type = FileType::character_device;
  capture.paths["/dev/x"].inode = ~std::uint64_t{0};
  capture.programs.push_back(
      {{"a\xff\"'\\\n\x01\x7f"}, ProgramOutput{1, 0, false, "\xc0\xaf\t\"\"\"'''\\", std::string("\0", 1)}});
  capture.libc = Result<LibcInfo>(Error{ENOENT, ""});
  capture.mounts = Result<std::vector<Mount>>(Error{EACCES, ""});
  const Capture back = round_trip(capture);
  CHECK(back.filesystem_sizes.at("/").value() == 0x7fffffffffffffffu);
  CHECK(back.paths.at("/dev/x").inode == 0x7fffffffffffffffu);
  CHECK(back.programs.at(0).arguments.at(0) == "a\xef\xbf\xbd\"'\\\n\x01\x7f");
  CHECK(back.programs.at(0).result->output == "\xef\xbf\xbd\xef\xbf\xbd\t\"\"\"'''\\");
  CHECK(back.programs.at(0).result->errors == std::string("\0", 1));
  CHECK(back.libc->error().number == ENOENT);
  CHECK(back.mounts->error().number == EACCES);
}

TEST_CASE("a capture is written for its owner alone, into a new or empty folder") {
  const TemporaryFolder place;
  const fs::path folder = place.folder() / "x";
  const auto written = write_capture(sample(), folder, {});
  REQUIRE_MESSAGE(written.ok(), written.error().text);
  CHECK(written->files >= 3);
  CHECK(mode_of(folder) == fs::perms::owner_all);
  CHECK(mode_of(folder / "root/etc") == fs::perms::owner_all);
  CHECK(mode_of(folder / "capture.toml") == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(mode_of(folder / "root/etc/os-release") == (fs::perms::owner_read | fs::perms::owner_write));

  CHECK(contains(write_capture(sample(), folder, {}).error().text, "not empty"));
  CHECK(contains(write_capture(sample(), folder / "capture.toml", {}).error().text, "no folder"));
  CHECK(write_capture(sample(), place.folder() / "none/x", {}).error().number == ENOENT);
  fs::create_directory(place.folder() / "empty");
  CHECK(write_capture(sample(), place.folder() / "empty/", {}).ok());
  CHECK(std::distance(fs::directory_iterator(place.folder()), fs::directory_iterator()) == 2);
}

TEST_CASE("what can't be a capture leaves nothing behind") {
  const TemporaryFolder place;
  Capture capture;
  capture.paths["/opt/rocm"] = link("rocm-7");
  capture.paths["/opt/rocm/version"] = file("x");
  CHECK_FALSE(write_capture(capture, place.folder() / "x", {}).ok());
  CHECK(fs::is_empty(place.folder()));
}

TEST_CASE("of each file only what probes look at is kept") {
  Capture capture;
  capture.process.user = "anna";
  capture.process.home = "/home/anna";
  capture.process.groups = {1000, 44};
  capture.paths["/dev/kfd"].type = FileType::character_device;
  capture.paths["/dev/kfd"].gid = 992;
  capture.paths["/etc/group"] =
      file("root:x:0:\nvideo:x:44:bob,anna,carl\nstaff:x:50:anna\nanna:x:1000:\ngpu:x:992:bob\nbroken\n");
  capture.paths["/proc/cmdline"] =
      file("BOOT_IMAGE=/vmlinuz root=UUID=1234 amdgpu.dc=0 luks.key=s3cret iommu=pt quiet\n");
  capture.paths["/proc/cpuinfo"] = file("processor : 0\nmodel name : x\n\nprocessor : 1\n\nSerial : 00000000abcdef\n");
  capture.paths["/home/anna/.bashrc"] = link("dotfiles/bashrc");
  capture.paths["/home/anna/dotfiles/bashrc"] =
      file("export HF_TOKEN=abc\nexport ROCM_PATH=/opt/rocm HF_TOKEN=abc\n# HIP_PATH=x\n");
  capture.paths["/etc/environment"] = file("HTTP_PROXY=http://a:b@c\nHSA_OVERRIDE_GFX_VERSION=\"10.3.0\"\n");
  capture.paths["/etc/modprobe.d/a.conf"] =
      file("# amdgpu of Anna\nblacklist nouveau\nblacklist \\\n  amdgpu\noptions wifi key=s3cret\n");
  capture.paths["/lib/modules/6.1/modules.dep"] =
      file("kernel/a.ko: b\nkernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst: kernel/drm.ko\n");
  capture.paths["/lib/modules/6.1/amdgpu.ko"] = file(std::string("\x7f") + "ELF");
  capture.paths["/etc/wsl.conf"] = file("[user]\ndefault=anna\n[boot]\ncommand=secret\n[gpu]\nenabled = false\n");
  capture.paths["/home/anna/notes"] = file("dear diary");
  capture.paths["/home/anna"].type = FileType::directory;
  capture.paths["/home/anna"].names = {"notes", "Love letters"};
  capture.environment = {{"ROCM_PATH", "/opt/rocm"}, {"HF_TOKEN", "abc"}};
  capture.kernel_log = std::vector<std::string>{"[  1.0] usb: Anna's phone", "<6>[  2.0] amdgpu: hello"};
  capture.mounts =
      std::vector<Mount>{{"/", "ext4"}, {"/media/anna/Private", "vfat"}, {"/mnt/c", "9p"}, {"/home", "nfs4"}};
  capture.loader_cache = std::vector<LoaderCacheEntry>{{"libhsa-runtime64.so.1", "/a"}, {"libsecret.so", "/b"}};
  filter_capture(capture);

  const auto contents = [&](const char* path) { return capture.paths.at(path).contents.value_or("(none)"); };
  CHECK(contents("/etc/group") == "video:x:44:anna\nanna:x:1000:\ngpu:x:992:\n");
  CHECK(contents("/proc/cmdline") == "amdgpu.dc=0 iommu=pt\n");
  CHECK(contents("/proc/cpuinfo") == "processor : 0\nmodel name : x\n");
  CHECK(contents("/home/anna/dotfiles/bashrc") == "\nexport ROCM_PATH='/opt/rocm'\n\n");
  CHECK(contains(contents("/etc/environment"), "10.3.0"));
  CHECK_FALSE(contains(contents("/etc/environment"), "PROXY"));
  CHECK(contents("/etc/modprobe.d/a.conf") == "\n\nblacklist \\\n  amdgpu\n\n");
  CHECK(contents("/lib/modules/6.1/modules.dep") == "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst: kernel/drm.ko\n");
  CHECK(contents("/lib/modules/6.1/amdgpu.ko").empty());
  CHECK(contents("/etc/wsl.conf") == "[user]\n\n[boot]\n\n[gpu]\nenabled = false\n");
  CHECK(contents("/home/anna/notes") == "(none)");
  CHECK(contains(make_captured_host(capture)->read_file("/home/anna/notes").error().text, "left out of the capture"));
  CHECK(capture.paths.at("/home/anna").names.empty());
  CHECK(capture.environment.size() == 1);
  CHECK(**capture.kernel_log == std::vector<std::string>{"amdgpu: hello"});
  REQUIRE((*capture.mounts)->size() == 3);
  CHECK((*capture.mounts)->at(2).point == "/home");
  CHECK((*capture.loader_cache)->size() == 1);
}

TEST_CASE("redaction reaches paths, links, names and values alike, so that a replay still finds them") {
  Capture capture;
  capture.process.user = "ubuntu";
  capture.process.host_name = "thinkbox";
  capture.process.home = "/home/ubuntu";
  capture.process.working_folder = "/home/ubuntu/work";
  capture.process.groups = {44};
  capture.environment = {
      {"LD_LIBRARY_PATH", "/home/ubuntu/rocm/lib"}, {"SUDO_USER", "ubuntu"}, {"ROCR_VISIBLE_DEVICES", "GPU-7b"}};
  capture.paths["/etc/group"] = file("video:x:44:ubuntu\n");
  capture.paths["/etc/os-release"] = file("ID=ubuntu\n");
  capture.paths["/opt/rocm"] = link("/home/ubuntu/rocm");
  capture.paths["/home/ubuntu/rocm/.info/version"] = file("7.2.0\n");
  capture.paths["/mnt/c/Users"].type = FileType::directory;
  capture.paths["/mnt/c/Users"].names = {"Bernd Smith", "Public"};
  capture.paths["/mnt/c/Users/Bernd Smith/.wslconfig"] = file("[wsl2]\ngpuSupport=true\n");
  capture.paths["/sys/class/kfd/kfd/topology/nodes/1/properties"] =
      file("unique_id 8863084066665136129\n");  // 0x7b00...1
  const Capture back = round_trip(capture, Redaction(known_names(capture.process)));

  CHECK(back.process.user == "user1");
  CHECK(back.process.host_name == "host1");
  CHECK(back.process.home == "/home/user1");
  CHECK(back.process.working_folder == "/home/user1/work");
  CHECK(back.environment.at("SUDO_USER") == "user1");
  CHECK(back.environment.at("LD_LIBRARY_PATH") == "/home/user1/rocm/lib");
  const auto replay = make_captured_host(back);
  CHECK(replay->read_file("/etc/group") == std::string("video:x:44:user1\n"));
  CHECK(replay->read_file("/etc/os-release") == std::string("ID=ubuntu\n"));
  CHECK(replay->read_file("/opt/rocm/.info/version") == std::string("7.2.0\n"));
  CHECK(replay->list_folder("/mnt/c/Users") == std::vector<std::string>{"Public", "user2"});
  CHECK(replay->read_file("/mnt/c/Users/user2/.wslconfig").ok());

  const auto properties = replay->read_file("/sys/class/kfd/kfd/topology/nodes/1/properties");
  REQUIRE(properties.ok());
  const auto serial = parse_number(trim(std::string_view(*properties).substr(10)));
  REQUIRE(serial.has_value());
  CHECK(*serial != 8863084066665136129u);
  CHECK(("GPU-" + hex(*serial, 16)).starts_with(back.environment.at("ROCR_VISIBLE_DEVICES")));
}

}  // namespace sage
