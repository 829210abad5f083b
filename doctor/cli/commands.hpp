#pragma once

#include <string>
#include <vector>

#include "doctor/bench/shapes.hpp"
#include "doctor/report/format.hpp"

namespace sage {

/// Exit statuses beyond those of a finished check: bad usage, or an error of our own.
inline constexpr int exit_usage = 2;
/// Of `diagnose`, where no rule knows what a log says.
inline constexpr int exit_unknown = 3;

enum class ColourChoice { automatic, always, never };

/// What every command that looks at a machine takes.
struct MachineOptions {
  std::string capture;      ///< folder to read instead of this machine; empty: this machine
  std::string config_file;  ///< empty: the user's, when there is one
  std::string target;       ///< gfx target instead of that of the GPUs found; empty: theirs
  std::string python;       ///< interpreter or environment to look at; empty: those found
  bool deep = false;
};

/// What every command takes whose product is a Report.
struct ReportOptions {
  ReportFormat format = ReportFormat::text;
  ColourChoice colour = ColourChoice::automatic;
  bool redact = true;  ///< in every format but text, which is for the user's own eyes
  bool strict = false;
  bool quiet = false;
  bool verbose = false;
};

struct CheckOptions {
  MachineOptions machine;
  ReportOptions report;
  std::vector<std::string> only;
  std::vector<std::string> skip;
};

struct DiagnoseOptions {
  MachineOptions machine;
  ReportOptions report;
  std::string log;        ///< file; empty or "-": stdin
  bool log_only = false;  ///< look at no machine
};

struct CaptureOptions {
  MachineOptions machine;
  std::string folder;
  bool redact = true;
};

struct LibsOptions {
  MachineOptions machine;
  std::string file;                ///< empty: the runtime libraries of the machine
  std::string program;             ///< that opens the file; empty: any plain one
  std::vector<std::string> then;   ///< opened after it, in order
  std::string caller;              ///< the library that opens those; empty: the program
  bool json = false;
  bool redact = true;
};

/// Of `env`, and of `run`, which takes no shell, output and check.
struct EnvOptions {
  MachineOptions machine;
  std::string shell;         ///< empty: by $SHELL
  std::string toolchain;     ///< path or kind of compiler; empty: the best
  std::string root;          ///< folder that the compiler has to belong to; empty: any
  std::string override_gfx;  ///< HSA_OVERRIDE_GFX_VERSION to set; empty: none
  bool force = false;
  std::string output;        ///< file to write; empty: stdout
  std::string check;         ///< script to compare with this machine; empty: make one
};

struct InspectCommandOptions {
  std::string file;
  bool json = false;
  bool redact = true;
  bool exports = false;
  bool kernels = false;
};

struct ToolchainsOptions {
  MachineOptions machine;
  bool json = false;
  bool redact = true;
};

struct BuildOptions {
  MachineOptions machine;
  std::vector<std::string> targets;  ///< empty: those of the GPUs found
  std::string toolchain;             ///< path or kind of compiler; empty: the best
  std::string prefix;                ///< empty: the user's
  std::size_t jobs = 0;              ///< 0: by cores and free memory
  bool install = false;              ///< into the Python environment
  bool dry_run = false;
  bool clean = false;
  bool keep_going = false;
  bool require_gpu = false;
  bool json = false;
  bool redact = true;
  bool verbose = false;
};

struct TestOptions {
  MachineOptions machine;
  std::string prefix;
  bool require_gpu = false;
};

struct BenchOptions {
  MachineOptions machine;
  BenchWish wish;
  std::string prefix;
  std::string runtime;             ///< driver library to use; empty: those found
  std::string toolchain;           ///< with tune: path or kind of compiler; empty: the best
  std::string from;                ///< result to show in place of a measurement
  std::vector<std::string> plots;  ///< files that end in .svg or .html
  bool model = false;
  bool tune = false;
  bool json = false;
  bool redact = true;
  bool verbose = false;
};

// Each command writes its product to stdout and returns the exit status of the program.
[[nodiscard]] int run_check(const CheckOptions& options);
[[nodiscard]] int run_diagnose(const DiagnoseOptions& options);
[[nodiscard]] int run_capture(const CaptureOptions& options);
[[nodiscard]] int run_libs(const LibsOptions& options);
[[nodiscard]] int run_list(bool json);
[[nodiscard]] int run_inspect(const InspectCommandOptions& options);
[[nodiscard]] int run_toolchains(const ToolchainsOptions& options);
[[nodiscard]] int run_explain(const std::string& id);
[[nodiscard]] int run_env(const EnvOptions& options);
[[nodiscard]] int run_env_check(const EnvOptions& options);
[[nodiscard]] int run_build(const BuildOptions& options);
/// Repeats the trials of an installation.
[[nodiscard]] int run_test(const TestOptions& options);
/// Speed and accuracy of installed kernels; or the choice among alternatives, a model's figures, an earlier result.
[[nodiscard]] int run_bench(const BenchOptions& options);
/// Becomes `command`; comes back only when that fails, with a status as of env(1).
[[nodiscard]] int run_in_environment(const EnvOptions& options, std::vector<std::string> command);

/// Parses the command line and runs the command. The whole program.
[[nodiscard]] int run_command_line(int argc, const char* const* argv);

}  // namespace sage
