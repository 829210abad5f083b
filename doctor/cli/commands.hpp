#pragma once

#include <string>
#include <vector>

namespace sage {

/// Exit statuses beyond those of a finished check: bad usage, or an error of our own.
inline constexpr int exit_usage = 2;

enum class ColourChoice { automatic, always, never };

/// What every command that looks at a machine takes.
struct MachineOptions {
  std::string capture;      ///< folder to read instead of this machine; empty: this machine
  std::string config_file;  ///< empty: the user's, when there is one
  std::string target;       ///< gfx target instead of that of the GPUs found; empty: theirs
  std::string python;       ///< interpreter or environment to look at; empty: those found
  bool deep = false;
};

struct CheckOptions {
  MachineOptions machine;
  std::vector<std::string> only;
  std::vector<std::string> skip;
  ColourChoice colour = ColourChoice::automatic;
  bool json = false;
  bool redact = true;
  bool strict = false;
  bool quiet = false;
  bool verbose = false;
};

struct CaptureOptions {
  MachineOptions machine;
  std::string folder;
  bool redact = true;
};

struct InspectCommandOptions {
  std::string file;
  bool json = false;
  bool exports = false;
  bool kernels = false;
};

struct ToolchainsOptions {
  MachineOptions machine;
  std::string target;  ///< empty: the configured one, else the GPU's
  bool json = false;
  bool redact = true;
};

// Each command writes its product to stdout and returns the exit status of the program.
[[nodiscard]] int run_check(const CheckOptions& options);
[[nodiscard]] int run_capture(const CaptureOptions& options);
[[nodiscard]] int run_list(bool json);
[[nodiscard]] int run_inspect(const InspectCommandOptions& options);
[[nodiscard]] int run_toolchains(const ToolchainsOptions& options);
[[nodiscard]] int run_explain(const std::string& id);

/// Parses the command line and runs the command. The whole program.
[[nodiscard]] int run_command_line(int argc, const char* const* argv);

}  // namespace sage
