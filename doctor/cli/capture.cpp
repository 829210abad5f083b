#include <string>

#include <spdlog/spdlog.h>

#include "doctor/cli/commands.hpp"
#include "doctor/cli/output.hpp"
#include "doctor/cli/session.hpp"
#include "probes/base/redaction.hpp"
#include "probes/base/text.hpp"
#include "probes/host/capture_writer.hpp"
#include "probes/host/recording_host.hpp"

namespace sage {

int run_capture(const CaptureOptions& options) {
  const Result<Session> session = open_session(options.machine);
  if (!session) {
    spdlog::error("{}", session.error().text);
    return exit_usage;
  }
  const RecordingHost recorder(*session->host);
  // The facts themselves are not wanted here: what the probes read on the way to them is.
  static_cast<void>(collect(*session, recorder, false));

  const Redaction redaction = options.redact ? make_redaction(*session->host) : Redaction();
  const Result<WrittenCapture> written = write_capture(recorder.capture(), options.folder, redaction);
  if (!written) {
    spdlog::error("{}", written.error().text);
    return exit_usage;
  }
  std::string text = "Wrote " + options.folder + ": " + std::to_string(written->files) + " files, " +
                     human_bytes(written->bytes) + ", " +
                     (options.redact ? "personal data replaced" : "with personal data") + ".\n";
  text += "Look at it:     less " + options.folder + "/capture.toml\n";
  text += "Replay it:      sage-doctor check --capture " + options.folder + "\n";
  text += "Attach it:      tar czf machine.tar.gz " + options.folder + "\n";
  return write_product(text, 0);
}

}  // namespace sage
