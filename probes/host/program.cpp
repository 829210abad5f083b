#include "probes/host/program.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "probes/host/child.hpp"

namespace sage {
namespace {

constexpr std::size_t output_cap = 1024 * 1024;

Result<ProgramOutput> run(const char* program, const std::vector<std::string>& arguments,
                          std::chrono::milliseconds deadline) {
  if (arguments.empty() || arguments[0].empty()) return Error{EINVAL, "no program to run"};
  std::vector<char*> texts;
  for (const std::string& argument : arguments) {
    if (argument.find('\0') != std::string::npos) return Error{EINVAL, arguments[0] + ": an argument has a zero byte"};
    texts.push_back(const_cast<char*>(argument.c_str()));
  }
  texts.push_back(nullptr);

  // The third pipe closes when exec succeeds; otherwise it carries the errno.
  const auto body = [&](const std::vector<int>& pipes) {
    dup2(pipes[0], STDOUT_FILENO);
    dup2(pipes[1], STDERR_FILENO);
    close_all_on_exec();
    execvp(program, texts.data());
    const int why = errno;
    return write(pipes[2], &why, sizeof why) == sizeof why ? 127 : 126;
  };
  auto outcome = run_child(body, {output_cap, output_cap, sizeof(int)}, deadline);
  if (!outcome.ok()) return outcome.error();

  const std::string& why = outcome->streams[2].bytes;
  if (why.size() == sizeof(int)) {
    int number = 0;
    std::memcpy(&number, why.data(), sizeof number);
    return system_error(number, arguments[0]);
  }
  ProgramOutput output;
  output.timed_out = outcome->timed_out;
  output.exit_status = outcome->exit_status;
  output.signal = outcome->signal;
  output.output = std::move(outcome->streams[0].bytes);
  output.errors = std::move(outcome->streams[1].bytes);
  return output;
}

}  // namespace

Result<ProgramOutput> run_foreign_program(const std::vector<std::string>& arguments,
                                          std::chrono::milliseconds deadline) {
  return run(arguments.empty() ? "" : arguments.front().c_str(), arguments, deadline);
}

Result<ProgramOutput> run_own_program(const std::vector<std::string>& arguments, std::chrono::milliseconds deadline) {
  return run("/proc/self/exe", arguments, deadline);
}

}  // namespace sage
