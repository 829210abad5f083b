// `sage-doctor run -- CMD` is the environment of `sage-doctor env` without a shell: the variables are set here and the
// command takes this process over, so that signals, the terminal and the exit status are its own. Statuses as of
// env(1).

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "doctor/cli/commands.hpp"
#include "doctor/cli/env_session.hpp"
#include "doctor/env/script.hpp"
#include "probes/base/errno_name.hpp"

extern char** environ;

namespace sage {
namespace {

constexpr int exit_own_error = 125;
constexpr int exit_cannot_invoke = 126;
constexpr int exit_not_found = 127;

/// The whole environment, not only the variables that are looked at.
EnvironmentValues whole_environment() {
  EnvironmentValues values;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=', 1);
    if (equals != std::string::npos) values[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return values;
}

/// The words as exec wants them: the last is a null pointer.
std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

int run_in_environment(const EnvOptions& options, std::vector<std::string> command) {
  if (command.empty()) {
    spdlog::error("no command: sage-doctor run -- COMMAND...");
    return exit_own_error;
  }
  const Result<Session> session = open_session(options.machine);
  if (!session) {
    spdlog::error("{}", session.error().text);
    return exit_own_error;
  }
  const Result<TriedPlan> tried = make_plan(options, *session);
  if (!tried) {
    spdlog::error("{}", one_line(tried.error().text));
    return exit_own_error;
  }
  std::vector<std::string> entries;
  for (const auto& [name, value] : activated(whole_environment(), tried->plan)) entries.push_back(name + "=" + value);
  std::vector<char*> environment = pointers(entries);
  std::vector<char*> arguments = pointers(command);

  // What was set for our own output is not the command's wish.
  std::signal(SIGPIPE, SIG_DFL);
  // The program is looked for in the PATH that it gets.
  environ = environment.data();
  execvp(arguments.front(), arguments.data());
  const int problem = errno;
  spdlog::error("{}", one_line(system_error(problem, "cannot run " + command.front()).text));
  return problem == ENOENT ? exit_not_found : exit_cannot_invoke;
}

}  // namespace sage
