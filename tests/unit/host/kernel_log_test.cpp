#include "probes/host/kernel_log.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace sage {
namespace {

/// A log that answers one step after the other: a record, or the errno of a read that failed.
class FakeLog {
 public:
  struct Step {
    std::string record;
    int error = 0;
  };

  explicit FakeLog(std::vector<Step> steps) : steps_(std::move(steps)) {}

  ssize_t operator()(char* buffer, std::size_t size) {
    if (next_ == steps_.size()) return fail(EAGAIN);
    const Step& step = steps_[next_++];
    if (step.error != 0) return fail(step.error);
    if (step.record.size() > size) return fail(EINVAL);
    std::memcpy(buffer, step.record.data(), step.record.size());
    return static_cast<ssize_t>(step.record.size());
  }

 private:
  static ssize_t fail(int error) {
    errno = error;
    return -1;
  }

  std::vector<Step> steps_;
  std::size_t next_ = 0;
};

using Messages = std::vector<std::string>;

}  // namespace

TEST_CASE("kernel messages come without prefix and continuation lines") {
  CHECK(*read_kernel_records(FakeLog({{"6,1,0,-;[drm] amdgpu: ring gfx timeout\n SUBSYSTEM=pci\n DEVICE=+pci:0000\n"},
                                      {"4,2,17,-,caller=T1;a;b\n"},
                                      {"6,3,18,c;no end"},
                                      {"no prefix at all\n"},
                                      {"6,4,19,-;\n"}})) ==
        Messages{"[drm] amdgpu: ring gfx timeout", "a;b", "no end", "", ""});
  CHECK(read_kernel_records(FakeLog({}))->empty());
}

TEST_CASE("overwritten and interrupted reads go on, others end with their errno") {
  CHECK(*read_kernel_records(FakeLog({{"", EPIPE}, {"6,1,0,-;a"}, {"", EINTR}, {"6,2,0,-;b"}})) == Messages{"a", "b"});
  CHECK(read_kernel_records(FakeLog({{"6,1,0,-;a"}, {"", EPERM}})).error() ==
        Error{EPERM, "/dev/kmsg: operation not permitted"});
  CHECK(read_kernel_records(FakeLog(std::vector<FakeLog::Step>(5000, {"", EPIPE}))).error().number == EPIPE);
}

TEST_CASE("an endless log is cut by records and by bytes") {
  CHECK(read_kernel_records(FakeLog(std::vector<FakeLog::Step>(20'001, {"6,1,0,-;x"})))->size() == 20'000);
  const std::string long_record = "6,1,0,-;" + std::string(8000, 'x');
  CHECK(read_kernel_records(FakeLog(std::vector<FakeLog::Step>(2000, {long_record})))->size() == 1049);
}

TEST_CASE("the log of this machine is read or refused with an errno") {
  const auto log = read_kernel_log();
  if (log.ok()) {
    CHECK_FALSE(log->empty());
    CHECK(
        std::none_of(log->begin(), log->end(), [](const std::string& m) { return m.find('\n') != std::string::npos; }));
  } else {
    CHECK(log.error().number != 0);
  }
}

}  // namespace sage
