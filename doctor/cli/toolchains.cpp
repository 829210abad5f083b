#include <spdlog/spdlog.h>

#include "doctor/cli/commands.hpp"
#include "doctor/cli/output.hpp"
#include "doctor/cli/session.hpp"
#include "doctor/toolchain/toolchain_list.hpp"

namespace sage {
namespace {

/// nullopt: it is a target. A target of NVIDIA is taken as it is; the tables have none.
std::optional<std::string> wrong_target(const std::string& target, const GfxTables& tables) {
  if (target.empty() || target.starts_with("sm_") || tables.target(target) != nullptr) return std::nullopt;
  return "--target: " + no_such_target(target, tables);
}

}  // namespace

int run_toolchains(const ToolchainsOptions& options) {
  const Result<Session> opened = open_session(options.machine);
  if (!opened) {
    spdlog::error("{}", opened.error().text);
    return exit_usage;
  }
  const Session& session = *opened;
  const std::string target = options.machine.target;
  if (const auto wrong = wrong_target(target, session.tables)) {
    spdlog::error("{}", *wrong);
    return exit_usage;
  }
  const Facts facts = collect_facts(*session.host, session.tables, session.probe_options);
  const ToolchainList list = make_toolchain_list(facts, session.tables, target);
  if (!options.json) return write_product(toolchain_text(list, output_width()), 0);
  const Redaction redaction = options.redact ? make_redaction(*session.host) : Redaction();
  return write_product(toolchain_json(list, redaction), 0);
}

}  // namespace sage
