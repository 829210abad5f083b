#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

#include <spdlog/spdlog.h>

#include "doctor/checks/wording.hpp"
#include "doctor/cli/commands.hpp"
#include "doctor/cli/env_session.hpp"
#include "doctor/cli/file_output.hpp"
#include "doctor/cli/output.hpp"
#include "doctor/cli/session.hpp"
#include "doctor/env/apply.hpp"
#include "doctor/env/environment_host.hpp"
#include "doctor/env/fingerprint.hpp"
#include "doctor/env/plan_parts.hpp"
#include "doctor/env/script.hpp"
#include "probes/base/nearest.hpp"
#include "probes/base/paths.hpp"
#include "probes/host/live_host.hpp"
#include "probes/probe.hpp"

namespace sage {
namespace {

constexpr std::size_t script_cap = 256 * 1024;

/// The language that was asked for, else the one of $SHELL. nullopt: there is no such language; said on stderr.
std::optional<Shell> wanted_shell(const std::string& name) {
  if (!name.empty()) {
    const std::optional<Shell> shell = shell_by_name(name);
    if (!shell) {
      spdlog::error("there is no shell '{}'{}; 'sage-doctor env --help' lists them", name,
                    did_you_mean(name, shell_names()));
    }
    return shell;
  }
  const char* program = std::getenv("SHELL");
  const std::string path = program == nullptr ? "" : program;
  if (const std::optional<Shell> shell = shell_of_program(path)) return shell;
  if (!path.empty()) spdlog::warn("the shell {} is not known; the script is for sh (see --shell)", path);
  return Shell::sh;
}

int refuse(const EnvOptions& options, Shell shell, const std::string& reason) {
  spdlog::error("{}", one_line(reason));
  if (!options.output.empty()) {
    spdlog::error("{} was left as it is", one_line(options.output));
    return 1;
  }
  // `. file` and `eval` have to fail too: many a script looks at nothing else.
  return write_product(failing_script(shell, reason), 1);
}

/// Why the Python that the user named can't be looked at. Of a capture nobody knows more than it holds.
std::optional<Error> bad_python(const MachineOptions& machine, const Host& host) {
  if (machine.python.empty() || !machine.capture.empty()) return std::nullopt;
  const auto status = host.status(machine.python);
  const bool plain_file = status.ok() && status->type == FileType::regular && (status->mode & 0111) == 0;
  if (!plain_file) return std::nullopt;
  return Error{0, "--python " + machine.python + " is no program: name an interpreter or the folder of an environment"};
}

int print_script(const EnvOptions& options, const std::string& script) {
  if (!options.output.empty()) {
    if (const auto problem = write_file(options.output, script)) {
      spdlog::error("{}", one_line(problem->text));
      return exit_usage;
    }
    return 0;
  }
  if (!stdout_takes_text()) {
    spdlog::error("stdout is closed: the script has nowhere to go (-o FILE writes a file)");
    return exit_usage;
  }
  if (isatty(STDOUT_FILENO) == 1) {
    spdlog::warn("to use it, save it first: sage-doctor env > env_amd.sh && . ./env_amd.sh");
  }
  return write_product(script, 0);
}

/// Where a path leads on this machine; a word without a slash is a name and stays.
std::string resolved(const Host& host, const std::string& path) {
  if (path.find('/') == std::string::npos) return path;
  const std::string absolute = path.starts_with('/') ? path : host.process().working_folder + "/" + path;
  return host.canonical(absolute).value_or(path);
}

/// The ROCm folder of a compiler: /x of /x/bin/hipcc and of /x/lib/llvm/bin/clang++. Empty for a plain name.
std::string tree_around(const std::string& compiler) {
  if (!compiler.starts_with('/')) return "";
  std::string tree = parent_folder(parent_folder(compiler));
  for (const std::string_view llvm : {"/lib/llvm", "/llvm"}) {
    if (tree.ends_with(llvm)) tree.resize(tree.size() - llvm.size());
  }
  return tree;
}

/// What the user names is looked at wherever it lies; the probes know only the usual places.
void add_tree(const std::string& tree, ProbeOptions& probe) {
  if (!tree.empty() && !is_system_folder(tree)) probe.search_folders.push_back(tree);
}

}  // namespace

Result<TriedPlan> make_plan(const EnvOptions& options, const Session& session) {
  if (const auto problem = bad_python(options.machine, *session.host)) return *problem;
  EnvRequest request;
  request.wish = {options.toolchain, resolved(*session.host, options.toolchain), resolved(*session.host, options.root)};
  request.override_gfx = options.override_gfx;
  request.force = options.force;
  request.python_named = !options.machine.python.empty();
  ProbeOptions probe = session.probe_options;
  for (const std::string& tree : {request.wish.root, tree_around(request.wish.toolchain),
                                  tree_around(request.wish.canonical)}) {
    add_tree(tree, probe);
  }
  return plan_and_try(*session.host, session.tables, probe, request);
}

int run_env(const EnvOptions& options) {
  const std::optional<Shell> shell = wanted_shell(options.shell);
  if (!shell) return exit_usage;
  const Result<Session> session = open_session(options.machine);
  if (!session) {
    spdlog::error("{}", session.error().text);
    return exit_usage;
  }
  const Result<TriedPlan> tried = make_plan(options, *session);
  if (!tried) return refuse(options, *shell, tried.error().text);

  const ScriptOrigin origin = {SAGE_VERSION, utc_time(session->host->now()), tried->values};
  const Result<std::string> script = write_script(tried->plan, *shell, origin);
  if (!script) return refuse(options, *shell, script.error().text);
  return print_script(options, *script);
}

int run_env_check(const EnvOptions& options) {
  const Result<std::string> text = make_live_host()->read_file(options.check, script_cap);
  if (!text) {
    spdlog::error("{}", text.error().text);
    return exit_usage;
  }
  const std::optional<std::string> mark = find_mark(*text);
  if (!mark) {
    spdlog::error("{} was not made by sage-doctor env: there is no mark \"sage-doctor-env/1...\" in it",
                  options.check);
    return exit_usage;
  }
  const Result<Session> session = open_session(options.machine);
  if (!session) {
    spdlog::error("{}", session.error().text);
    return exit_usage;
  }
  ProbeOptions probe = session->probe_options;
  if (probe.python.empty()) probe.python = named_python(*mark);
  add_tree(recorded_root(*mark), probe);
  const EnvironmentHost seen(*session->host, deactivated(session->host->environment()));
  const Result<MarkComparison> result = compare_mark(*mark, collect_facts(seen, session->tables, probe));
  if (!result) {
    spdlog::error("{}: {}", options.check, result.error().text);
    return exit_usage;
  }
  std::string report = options.check + (result->drifts.empty() ? ": fresh\n" : ": stale\n");
  for (const Drift& drift : result->drifts) report += "  " + one_line(drift_in_words(drift)) + "\n";
  for (const std::string& unknown : result->unknown) report += "  not compared: " + one_line(unknown) + "\n";
  if (!result->drifts.empty()) {
    report += "Make it anew, with the options that it was made with:\n  sage-doctor env -o " +
              shell_word(options.check) + "\n";
  }
  return write_product(report, result->drifts.empty() ? 0 : 1);
}

}  // namespace sage
