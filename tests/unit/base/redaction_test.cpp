#include "probes/base/redaction.hpp"

#include <doctest/doctest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "probes/base/text.hpp"

namespace sage {
namespace {

Redaction anna() {
  return Redaction({"anna", "thinkbox.corp.example", "/home/anna"});
}

/// What becomes of `text` when it is all there is to learn from.
std::string redacted_by(Redaction redaction, const std::string& text) {
  redaction.learn(text);
  return redaction.apply(text);
}

std::string as_anna(const std::string& text) {
  return redacted_by(anna(), text);
}

}  // namespace

TEST_CASE("user, host and home are replaced as whole words") {
  CHECK(as_anna("anna@thinkbox:/home/anna/venv") == "user1@host1:/home/user1/venv");
  CHECK(as_anna("Anna's keyboard") == "user1's keyboard");
  CHECK(as_anna("joanna annabel anna_x") == "joanna annabel anna_x");
  CHECK(as_anna("thinkbox.corp.example and thinkbox") == "host1 and host1");
  CHECK(as_anna("/home/annabel/x") == "/home/user2/x");
  CHECK(as_anna("sudo usermod -aG render anna") == "sudo usermod -aG render user1");
  CHECK(as_anna("video:x:44:anna") == "video:x:44:user1");
}

TEST_CASE("a home elsewhere becomes /home/user1 too, but nobody's folder stays") {
  CHECK(redacted_by(Redaction({"anna", "", "/nfs/staff/anna.smith"}), "/nfs/staff/anna.smith/x") == "/home/user1/x");
  CHECK(redacted_by(Redaction({"anna", "", "/nfs/staff/anna/"}), "/nfs/staff/anna/x") == "/home/user1/x");
  const std::string of_root = "/root";
  CHECK(redacted_by(Redaction({"root", "box", of_root}), "root " + of_root + "/.profile") == "root " + of_root + "/.profile");
  CHECK(redacted_by(Redaction({"x", "y", "/"}), "/ /etc") == "/ /etc");
}

TEST_CASE("other people's folders are numbered, on Linux and on Windows") {
  CHECK(as_anna("/home/bob/a /home/carl /home/bob") == "/home/user2/a /home/user3 /home/user2");
  CHECK(as_anna("/mnt/c/Users/Anna/.wslconfig") == "/mnt/c/Users/user1/.wslconfig");
  CHECK(as_anna("/mnt/c/Users/Anna Smith/.wslconfig") == "/mnt/c/Users/user2/.wslconfig");
  CHECK(as_anna(R"(C:\Users\bsmith\x and C:\\Users\\bsmith\\x)") == R"(C:\Users\user2\x and C:\\Users\\user2\\x)");
  CHECK(as_anna("C:\\Users\\Public\\x /mnt/c/Users/Default/x") == "C:\\Users\\Public\\x /mnt/c/Users/Default/x");
  CHECK(as_anna("see C:\\Users\\bsmith for more; bsmith") == "see C:\\Users\\user2 for more; user2");
}

TEST_CASE("ordinary words and very short names are names in paths only") {
  const Redaction ubuntu({"ubuntu", "localhost", "/home/ubuntu"});
  CHECK(redacted_by(ubuntu, "ID=ubuntu /home/ubuntu/x localhost") == "ID=ubuntu /home/user1/x localhost");
  CHECK(ubuntu.apply_to_user("ubuntu") == "user1");
  CHECK(ubuntu.apply_to_user("root") == "root");
  const Redaction al({"al", "", "/home/al"});
  CHECK(redacted_by(al, "al et al. /home/al") == "al et al. /home/user1");
  CHECK(al.apply_to_user("al") == "user1");
  const Redaction max({"max", "", "/home/max"});
  CHECK(redacted_by(max, "max_waves_per_simd 16, /home/max") == "max_waves_per_simd 16, /home/user1");
}

TEST_CASE("kernel paths keep their names") {
  const Redaction vram({"vram", "mclk", "/home/vram"});
  const std::string path = "/sys/class/drm/card0/device/mem_info.vram and /proc/mclk";
  CHECK(redacted_by(vram, path) == path);
  CHECK(redacted_by(vram, "vram at mclk") == "user1 at host1");
}

TEST_CASE("serials of GPUs keep their order and what they have in common") {
  Redaction redaction = anna();
  redaction.learn("unique_id 8822910000000000001\nhive_id 0\n");  // 0x7a712...
  redaction.learn("GPU-7b00000000000000");
  redaction.learn("GPU-90aa000000000000");
  const std::string first = redaction.apply("GPU-" + hex(8822910000000000001u, 16));
  const std::string second = redaction.apply("GPU-7b00000000000000");
  const std::string third = redaction.apply("GPU-90aa000000000000");
  CHECK(first.size() == 20);
  CHECK(first != second);
  CHECK(first[4] == second[4]);
  CHECK(first[5] != second[5]);
  CHECK(third[4] != first[4]);
  CHECK(redaction.apply("GPU-7a") == first.substr(0, 6));
  CHECK(redaction.apply("GPU-7") == first.substr(0, 5));
  CHECK(redaction.apply("GPU-9") == third.substr(0, 5));
  const auto decimal = parse_number(std::string_view(first).substr(4), 16);
  CHECK(redaction.apply("unique_id 8822910000000000001\n") == "unique_id " + std::to_string(*decimal) + "\n");
  CHECK(redaction.apply("unique_id 0") == "unique_id 0");
  CHECK(redaction.apply("GPU-XX") == "GPU-XX");
  CHECK(redaction.apply(first) == first);
}

TEST_CASE("a serial in a file of its own is replaced once it is known") {
  Redaction redaction = anna();
  redaction.learn_gpu_serial("90AA0000000000ff");
  CHECK(redaction.apply("90aa0000000000ff\n") != "90aa0000000000ff\n");
  CHECK(redaction.apply("GPU-90aa0000000000ff\n").substr(4) == redaction.apply("90aa0000000000ff\n"));
  CHECK(redaction.apply("0123456789abcdef") == "0123456789abcdef");
}

TEST_CASE("addresses are replaced, versions and PCI addresses are not") {
  CHECK(as_anna("192.168.1.7 and 10.0.0.5:8080, 192.168.1.7") == "192.0.2.1 and 192.0.2.2:8080, 192.0.2.1");
  CHECK(as_anna("inet 34.12.7.9 brd") == "inet 192.0.2.1 brd");
  CHECK(as_anna("inet addr:172.16.0.9") == "inet addr:192.0.2.1");
  CHECK(as_anna("ether 9c:6b:00:12:34:56") == "ether 02:00:00:00:00:01");
  CHECK(as_anna("fe80::9e6b:ff:fe12:3456/64") == "2001:db8::1/64");
  CHECK(as_anna("2a02:8108:1:2:3:4:5:6") == "2001:db8::1");
  for (const std::string text : {"driver 32.0.31041.1004", "version 25.30.13.5", "0000:03:00.0", "127.0.0.1", "::1",
                                 "std::vector", "12:30:05", "6.8.0-51-generic", "amdgpu 6.16.6.1", "/opt/rocm-7.2.0.1",
                                 "0x0000008000000000 - 0x00000083FAFFFFFF", "rocm 10.1.0.0"}) {
    CHECK(as_anna(text) == text);
  }
}

TEST_CASE("secrets are removed, and words about keys are not") {
  CHECK(as_anna("HF_TOKEN=hf_abcDEF0123456789xyz") == "HF_TOKEN=REDACTED");
  CHECK(as_anna("Authorization: Bearer abcdef0123456789abcdef") == "Authorization: Bearer REDACTED");
  CHECK(as_anna("password=hunter2 x") == "password=REDACTED x");
  CHECK(as_anna(R"({"client_secret": "s3"})") == R"({"client_secret": "REDACTED"})");
  CHECK(as_anna("mysql --password hunter2") == "mysql --password REDACTED");
  CHECK(as_anna("https://bob:pw@example.org/x") == "https://REDACTED@example.org/x");
  CHECK(as_anna("ghp_0123456789abcdefghijABCDEFGHIJ") == "REDACTED");
  for (const std::string text :
       {"Key was rejected by service", "required key missing - tainting kernel", "the key 'extends'", "keyboard=us",
        "token: gfx1201", "turnkey /opt/rocm-7.2.0/lib", "key /usr/lib/x86_64-linux-gnu/libfoo.so.1"}) {
    CHECK(as_anna(text) == text);
  }
}

TEST_CASE("ids of containers are numbered") {
  const std::string id(64, 'a');
  CHECK(as_anna("0::/system.slice/docker-" + id + ".scope") == "0::/system.slice/docker-container1.scope");
  CHECK(as_anna(std::string(40, 'a')) == std::string(40, 'a'));
}

TEST_CASE("without names nothing is redacted") {
  const std::string text = "anna 192.168.1.7 GPU-7b00000000000000 password=x /home/anna";
  CHECK(redacted_by(Redaction(), text) == text);
}

TEST_CASE("no secret is left in whatever it stands, and a second time changes nothing") {
  const std::vector<std::string> secrets = {
      "anna",
      "thinkbox",
      "/home/anna",
      "bsmith",
      "GPU-7b00deadbeef0001",
      "8822910000000000001",
      "192.168.178.23",
      "9c:6b:00:12:34:56",
      "fe80::9e6b:ff:fe12:3456",
      "hunter2",
      "hf_abcDEF0123456789xyz",
      std::string(64, 'c'),
  };
  const std::vector<std::string> pieces = {
      "anna",
      "thinkbox",
      "/home/anna",
      "/home/anna/.local/lib",
      "/home/bsmith",
      "C:\\Users\\bsmith\\AppData",
      "GPU-7b00deadbeef0001",
      "unique_id 8822910000000000001",
      "192.168.178.23",
      "9c:6b:00:12:34:56",
      "fe80::9e6b:ff:fe12:3456",
      "password=hunter2",
      "hf_abcDEF0123456789xyz",
      std::string(64, 'c'),
      "amdgpu",
      "max_waves_per_simd 16",
      "/sys/class/drm",
      "7.2.0",
      "key",
      "token",
      "GPU-7b",
      "user1",
      "host1",
      "\"",
      "\\",
      "\xc3\xa4",
      std::string("\0", 1),
      "::",
      "//",
  };
  const std::array<std::string, 8> gaps = {" ", "\n", "\t", ", ", " \"", "' ", "; ", " ("};
  std::mt19937 random(20261130);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) text += pieces[random() % pieces.size()] + gaps[random() % gaps.size()];
    Redaction redaction = anna();
    redaction.learn(text);
    const std::string once = redaction.apply(text);
    CAPTURE(text);
    for (const std::string& secret : secrets) CHECK_MESSAGE(!contains(once, secret), secret);
    CHECK(redaction.apply(once) == once);
    const std::string unlearned = anna().apply(text);
    CHECK(anna().apply(unlearned) == unlearned);
  }
}

TEST_CASE("any bytes are taken") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 200; ++i) text += "GPU-uniqe_d:./\\@=0123456789abcdef \xff\n"[random() % 37];
    Redaction redaction = anna();
    redaction.learn(text);
    const std::string once = redaction.apply(text);
    CHECK(redaction.apply(once) == once);
  }
}

}  // namespace sage
