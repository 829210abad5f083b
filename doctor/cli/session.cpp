#include "doctor/cli/session.hpp"

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "doctor/build/sources.hpp"
#include "doctor/checks/registry.hpp"
#include "doctor/cli/progress.hpp"
#include "doctor/report/wrap.hpp"
#include "probes/host/capture_reader.hpp"
#include "probes/host/captured_host.hpp"
#include "probes/host/live_host.hpp"

namespace sage {
namespace {

constexpr std::string_view config_name = "/sage-doctor/sage-doctor.toml";

std::optional<std::string> user_config_file() {
  if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder != nullptr && *folder == '/') {
    return folder + std::string(config_name);
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return home + std::string("/.config") + std::string(config_name);
  }
  return std::nullopt;
}

std::vector<std::string_view> check_ids() {
  std::vector<std::string_view> ids;
  for (const Check& check : all_checks()) ids.emplace_back(check.id);
  return ids;
}

// The configuration belongs to the user who runs the program, not to the machine that is looked at: it is read from
// here also when a capture is checked.
Result<Config> read_config(const Host& here, const std::string& given) {
  const std::optional<std::string> file = given.empty() ? user_config_file() : given;
  if (!file) return Config{};
  const Result<std::string> text = here.read_file(*file);
  if (!text) {
    if (given.empty() && (text.error().number == ENOENT || text.error().number == ENOTDIR)) return Config{};
    const Error why{text.error().number, "cannot read the configuration: " + text.error().text};
    // The server of a home folder that is gone is no reason to say nothing about the GPU.
    if (!given.empty() || why.number != ETIMEDOUT) return why;
    spdlog::warn("{}; going on without it", printable(why.text));
    return Config{};
  }
  return parse_config(*text, *file, check_ids());
}

}  // namespace

Result<Session> open_machine(const MachineOptions& options) {
  Session session;
  std::unique_ptr<Host> live = make_live_host();

  Result<Config> config = read_config(*live, options.config_file);
  if (!config) return config.error();
  session.config = std::move(config).value();

  if (options.capture.empty()) {
    session.source = "live";
    session.host = std::move(live);
    // A capture may come from a user with another sage-doctor, whose kernels were not stale.
    session.probe_options.kernel_source_sha256 = device_text_digest();
  } else {
    Result<Capture> capture = read_capture(options.capture);
    if (!capture) return capture.error();
    session.source = std::filesystem::path(options.capture + "/.").lexically_normal().parent_path().filename();
    session.host = make_captured_host(std::move(capture).value());
  }
  session.probe_options.deep = options.deep;
  session.probe_options.search_folders = session.config.search_paths;
  session.probe_options.target = options.target.empty() ? session.config.target : options.target;
  session.probe_options.python = options.python;
  return session;
}

Result<Session> open_session(const MachineOptions& options) {
  Result<Session> session = open_machine(options);
  if (!session) return session;
  Result<GfxTables> tables = GfxTables::embedded();
  if (!tables) return tables.error();
  session->tables = std::move(tables).value();
  if (const std::string& file = session->config.tables; !file.empty()) {
    // As the configuration, the file belongs to the user, not to the machine that is looked at.
    const Result<std::string> text = make_live_host()->read_file(file);
    if (!text) return Error{text.error().number, "cannot read the gfx tables: " + text.error().text};
    if (auto problem = session->tables.overlay(*text, file)) return *problem;
  }
  return session;
}

Facts collect(const Session& session, const Host& host, bool verbose) {
  Progress progress(verbose);
  ProbeOptions options = session.probe_options;
  options.progress = [&](const std::string& what) { progress.tell(what); };
  return collect_facts(host, session.tables, options);
}

Redaction make_redaction(const Host& host) {
  const ProcessIdentity process = host.process();
  return Redaction({process.user, process.host_name, process.home});
}

void ignore_configured(std::vector<Finding>& findings, const Config& config, const std::string& time) {
  for (const IgnoreRule& rule : suppress(findings, config.ignore, time.substr(0, 10))) {
    spdlog::warn("the rule that ignores {} ended on {}", rule.id, *rule.until);
  }
}

std::string utc_time(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace sage
