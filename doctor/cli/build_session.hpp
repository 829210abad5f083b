#pragma once

#include <string>

#include "doctor/build/prefix.hpp"
#include "doctor/cli/session.hpp"

namespace sage {

/// What the commands about installed kernels need.
struct BuildSession {
  Session session;
  std::string prefix;  ///< absolute
};

/// open_session() and prefix_for(); the Error is a sentence for stderr.
[[nodiscard]] inline Result<BuildSession> open_build_session(const MachineOptions& machine, const std::string& prefix) {
  Result<Session> session = open_session(machine);
  if (!session) return session.error();
  Result<std::string> folder = prefix_for(prefix, *session->host);
  if (!folder) return folder.error();
  return BuildSession{std::move(session).value(), std::move(folder).value()};
}

}  // namespace sage
