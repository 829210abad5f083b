#include "doctor/cli/build_progress.hpp"

#include <algorithm>
#include <cstdio>

#include <spdlog/spdlog.h>

#include "doctor/cli/output.hpp"
#include "doctor/cli/progress.hpp"
#include "doctor/report/wrap.hpp"

namespace sage {
namespace {

using Clock = std::chrono::steady_clock;

std::string with_what(const Toolchain* compiler) {
  return compiler == nullptr ? "; no compiler for it is here, so those made together with sage-doctor are taken" : " with " + compiler->path;
}

std::string waiting_for(const std::string& holder) {
  return "another build" + (holder.empty() ? std::string() : " (process " + holder + ")") + " is at work here; waiting for it";
}

class Lines : public BuildProgress {
 public:
  void waiting(const std::string& holder) override {
    if (!told_) say(waiting_for(holder));
    told_ = true;
  }
  void target(const std::string& target, const Toolchain* compiler, std::size_t units) override {
    say(target + ": " + std::to_string(units) + " code objects" + with_what(compiler));
    done_ = 0;
    units_ = units;
  }
  void passed_over(const std::string& compiler, const std::string& reason) override { say("passed over " + compiler + ": " + reason); }
  void unit_started(const std::string&) override {}
  void unit_ended(const std::string& unit, const std::string& how) override {
    say("[" + std::to_string(++done_) + "/" + std::to_string(units_) + "] " + unit + ": " + how);
  }
  void phase(const std::string& what) override { say(what); }
  void tick() override {}

 private:
  static void say(const std::string& text) { std::fprintf(stderr, "sage-doctor: %s\n", printable(text).c_str()); }

  bool told_ = false;
  std::size_t done_ = 0;
  std::size_t units_ = 0;
};

std::string whole_seconds(std::chrono::seconds time) {
  constexpr int minute = 60;
  const auto count = time.count();
  return count < minute ? std::to_string(count) + " s" : std::to_string(count / minute) + " min " + std::to_string(count % minute) + " s";
}

class Bar : public BuildProgress {
 public:
  void waiting(const std::string& holder) override {
    line_.tell(waiting_for(holder));
  }
  void target(const std::string& target, const Toolchain*, std::size_t units) override {
    target_ = target;
    phase_.clear();
    done_ = 0;
    units_ = units;
    running_.clear();
    start_ = Clock::now();
    show();
  }
  void passed_over(const std::string& compiler, const std::string& reason) override {
    line_.tell("");
    std::fprintf(stderr, "\rsage-doctor: passed over %s: %s\n", printable(compiler).c_str(), printable(reason).c_str());
  }
  void unit_started(const std::string& unit) override {
    running_.push_back(unit);
    show();
  }
  void unit_ended(const std::string& unit, const std::string&) override {
    std::erase(running_, unit);
    ++done_;
    show();
  }
  void phase(const std::string& what) override {
    phase_ = what;
    start_ = Clock::now();
    show();
  }
  void tick() override { show(); }

 private:
  void show() {
    const auto gone = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_);
    if (!phase_.empty()) return line_.tell(phase_ + "  " + whole_seconds(gone));
    if (units_ == 0) return;
    constexpr std::size_t cells = 20;
    const std::size_t full = cells * done_ / units_;
    std::string text = "[" + std::string(full, '#') + std::string(cells - full, ' ') + "] " + std::to_string(done_) + "/" +
                       std::to_string(units_) + " " + target_ + "  " + whole_seconds(gone);
    if (done_ > 0 && done_ < units_) {
      const auto left = gone * static_cast<std::int64_t>(units_ - done_) / static_cast<std::int64_t>(done_);
      text += ", about " + whole_seconds(left) + " left";
    }
    if (!running_.empty()) text += "  " + short_unit_name(running_.front());
    line_.tell(text);
  }

  Progress line_{false};
  std::string target_;
  std::string phase_;
  std::size_t done_ = 0;
  std::size_t units_ = 0;
  std::vector<std::string> running_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

std::unique_ptr<BuildProgress> make_build_progress(bool verbose) {
  if (!verbose && progress_on_terminal()) return std::make_unique<Bar>();
  return std::make_unique<Lines>();
}

}  // namespace sage
