#include "doctor/checks/check.hpp"

namespace sage {
namespace {

constexpr std::string_view not_applicable_words = "does not apply: ";

}  // namespace

Finding make_finding(Status status, std::string observed, std::string subject) {
  Finding finding;
  finding.status = status;
  finding.observed = std::move(observed);
  finding.subject = std::move(subject);
  return finding;
}

Finding pass(std::string observed, std::string subject) {
  return make_finding(Status::pass, std::move(observed), std::move(subject));
}

Finding info(std::string observed, std::string subject) {
  return make_finding(Status::info, std::move(observed), std::move(subject));
}

Finding warn(std::string observed, std::string subject) {
  return make_finding(Status::warn, std::move(observed), std::move(subject));
}

Finding fail(std::string observed, std::string subject) {
  return make_finding(Status::fail, std::move(observed), std::move(subject));
}

Finding not_applicable(std::string_view why, std::string subject) {
  return make_finding(Status::skip, std::string(not_applicable_words) + std::string(why), std::move(subject));
}

bool does_not_apply(const Finding& finding) {
  return finding.status == Status::skip && finding.observed.starts_with(not_applicable_words);
}

std::optional<Finding> skip_unless_known(std::initializer_list<NeededFact> facts, std::string subject) {
  for (const auto& [name, fact] : facts) {
    if (fact->known()) continue;
    return make_finding(Status::skip, "unknown: " + std::string(name) + " (" + fact->why_unknown().text + ")",
                        std::move(subject));
  }
  return std::nullopt;
}

}  // namespace sage
