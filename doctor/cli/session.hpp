#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "doctor/cli/commands.hpp"
#include "doctor/config/config.hpp"
#include "probes/base/redaction.hpp"
#include "probes/base/result.hpp"
#include "probes/gfx_tables.hpp"
#include "probes/host/host.hpp"
#include "probes/probe.hpp"

namespace sage {

/// What a command needs before it can probe: the machine (live or a capture), the configuration and the gfx tables.
struct Session {
  std::unique_ptr<Host> host;
  std::string source;  ///< "live", or the capture's folder name
  Config config;
  GfxTables tables;
  ProbeOptions probe_options;
};

/// Opens the host and reads the configuration: --config, else sage-doctor/sage-doctor.toml in the user's configuration
/// folder when it is there. The Error is a sentence for stderr. The gfx tables stay empty: they cost more than all the
/// rest, and not every command asks for chips.
[[nodiscard]] Result<Session> open_machine(const MachineOptions& options);

/// Also reads the gfx tables.
[[nodiscard]] Result<Session> open_session(const MachineOptions& options);

/// The facts of `host`, which is the session's or stands before it. What takes seconds is told on stderr meanwhile.
[[nodiscard]] Facts collect(const Session& session, const Host& host, bool verbose);

/// Replaces the personal names of the machine that `host` shows.
[[nodiscard]] Redaction make_redaction(const Host& host);

/// Marks the findings that the configuration ignores; tells of rules whose day has passed. `time` as of utc_time().
void ignore_configured(std::vector<Finding>& findings, const Config& config, const std::string& time);

/// "2026-11-30T23:00:00Z" of seconds since 1970.
[[nodiscard]] std::string utc_time(std::int64_t seconds);

}  // namespace sage
