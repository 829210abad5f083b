// The only file that includes CLI11: the header costs seconds to compile.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "doctor/bench/trial.hpp"
#include "doctor/build/smoke.hpp"
#include "doctor/cli/commands.hpp"
#include "doctor/cli/output.hpp"
#include "probes/base/nearest.hpp"
#include "probes/proof_child/verbs.hpp"

namespace sage {
namespace {

const std::vector<std::string_view> command_names = {"check", "diagnose", "build", "test", "bench", "libs", "env", "run",
                                                     "capture", "inspect", "toolchains", "list", "explain"};

/// env(1)'s status for an error of its own, so that a caller can tell it from the command's.
constexpr int run_usage_status = 125;

// stdout is the product; everything said besides goes to stderr.
void prepare_log() {
  spdlog::set_default_logger(spdlog::stderr_color_mt("sage-doctor"));
  spdlog::set_pattern("sage-doctor: %^%l%$: %v");
  spdlog::set_level(spdlog::level::warn);
}

// What goes into compilers' command lines has the shape of a target: gfx1201, gfx90a:xnack-, gfx12-generic, sm_90.
std::string is_target(const std::string& text) {
  const bool named = text.starts_with("gfx") || text.starts_with("sm_");
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789_-+:";
  const bool shaped = named && text.find_first_of("0123456789") != std::string::npos &&
                      text.find_first_not_of(allowed) == std::string::npos;
  return shaped ? "" : "'" + text + "' is no target such as gfx1201";
}

void add_machine_options(CLI::App& command, MachineOptions& machine, bool with_capture) {
  if (with_capture) {
    command.add_option("--capture", machine.capture, "Look at a captured machine instead of this one")
        ->type_name("DIR");
  }
  command.add_option("--config", machine.config_file, "Configuration file (default: sage-doctor/sage-doctor.toml in "
                                                      "the user's configuration folder)")
      ->type_name("FILE");
  command.add_option("--target", machine.target, "Take this gfx target for every GPU, and for the proofs of --deep")
      ->type_name("GFX")->check(is_target);
  command.add_option("--python", machine.python, "Interpreter or environment to look at, before those that are found")
      ->type_name("PATH");
}

void add_deep_option(CLI::App& command, MachineOptions& machine) {
  command.add_flag("--deep", machine.deep, "Prove it: run compilers, load ROCm's runtimes, import torch; also looks at "
                                           "/mnt/c. Takes seconds to minutes");
}

/// "text, json, ... or html"
std::string format_names() {
  std::string names;
  for (const auto& [format, name] : enum_names<ReportFormat>) {
    const bool is_last = format == enum_names<ReportFormat>.back().first;
    names += (names.empty() ? "" : is_last ? " or " : ", ") + std::string(name);
  }
  return names;
}

/// What every command takes whose product is a Report.
void add_report_options(CLI::App& command, ReportOptions& report) {
  const auto take_format = [&report](const std::string& name) {
    const auto format = enum_from_name<ReportFormat>(name);
    if (!format) throw CLI::ValidationError("there is no format '" + name + "': take " + format_names());
    report.format = *format;
  };
  CLI::Option* const format =
      command.add_option_function<std::string>("--format", take_format, format_names() + " (docs/report-formats.md)")
          ->type_name("FORMAT");
  CLI::Option* const json = command.add_flag("--json")->description("The same as --format json");
  command.callback([&report, format, json] {
    if (json->count() == 0) return;
    if (format->count() > 0 && report.format != ReportFormat::json) {
      throw CLI::ValidationError("--json and another --format: give one of them");
    }
    report.format = ReportFormat::json;
  });
  command.add_flag("!--no-redact", report.redact, "Keep user, host and serial numbers, which all formats but text "
                                                  "replace");
  command.add_flag("--strict", report.strict, "Warnings count as failures in the exit status");
  command.add_flag("-q,--quiet", report.quiet, "Problems and the count only");
  command.add_flag("-v,--verbose", report.verbose, "Also show what was skipped, and why");
  const std::map<std::string, ColourChoice> colours = {{"auto", ColourChoice::automatic},
                                                       {"always", ColourChoice::always},
                                                       {"never", ColourChoice::never}};
  command.add_option("--color", report.colour, "auto, always or never")
      ->type_name("WHEN")->transform(CLI::CheckedTransformer(colours).description(""));
}

/// What `env` and `run` both take.
void add_env_options(CLI::App& command, EnvOptions& options) {
  add_machine_options(command, options.machine, true);
  command.add_option("--toolchain", options.toolchain, "Compiler to set up: a path, hipcc, amdclang++ or clang++")
      ->type_name("COMPILER");
  command.add_option("--root", options.root, "Only compilers of this ROCm folder")->type_name("DIR");
  command.add_flag("--force", options.force, "Replace values of your own instead of keeping them");
  command.add_option("--override-gfx", options.override_gfx, "Also set HSA_OVERRIDE_GFX_VERSION. Rarely right")
      ->type_name("X.Y.Z");
}

void add_bench_options(CLI::App& command, BenchOptions& options) {
  BenchWish& wish = options.wish;
  constexpr std::uint32_t most = 1u << 20;
  command.add_option("--batch", wish.batch, "Batch (default: 4)")->type_name("N")->check(CLI::Range(1u, most));
  command.add_option("--heads", wish.heads, "Heads (default: 32)")->type_name("N")->check(CLI::Range(1u, most));
  command.add_option("--tokens", wish.tokens, "Lengths, separated by commas (default: 1024 to 16384)")
      ->type_name("N,...")->delimiter(',')->allow_extra_args(false)->check(CLI::Range(1u, most));
  command.add_option("--head-dims", wish.head_dims, "Head dims, separated by commas (default: 64,128)")
      ->type_name("D,...")->delimiter(',')->allow_extra_args(false)->check(CLI::Range(1u, 256u));
  command.add_option("--masks", wish.masks, "dense, causal or both (default)")
      ->type_name("MASK,...")->delimiter(',')->allow_extra_args(false)->check(CLI::IsMember({"dense", "causal"}).description(""));
  command.add_option("--pv", wish.pv, "Type of P and V: f16, fp8 or both (default: what the GPU has)")
      ->type_name("TYPE,...")->delimiter(',')->allow_extra_args(false)->check(CLI::IsMember({"f16", "fp8"}).description(""));
  command.add_option("--shapes", wish.shapes, "plain (default), and gqa, tail, cross: other shapes of the same work")
      ->type_name("SHAPE,...")->delimiter(',')->allow_extra_args(false)->check(CLI::IsMember({"plain", "gqa", "tail", "cross"}).description(""));
  command.add_option("--runs", wish.runs, "Timed runs of each (default: half a second, 5 to 50)")->type_name("N")->check(CLI::Range(1u, 10000u));
  command.add_flag("--tune", options.tune, "Compile other tiles for this GPU too, and store the fastest for each class of shapes");
  command.add_flag("--model", options.model, "Measure nothing: print what a model of the instructions gives for an AMD target");
  command.add_option("--from", options.from, "Measure nothing: show this result, of --json or of the Python benchmark")->type_name("FILE");
  command.add_option("--plot", options.plots, "Also write a plot: .svg, or .html with a table (repeatable)")
      ->type_name("FILE")->allow_extra_args(false)->check([](const std::string& file) {
        return file.ends_with(".svg") || file.ends_with(".html") ? "" : "'" + file + "' ends neither in .svg nor in .html";
      });
  command.add_flag("--json", options.json, "As JSON (docs/bench-schema.json), redacted");
  command.add_flag("!--no-redact", options.redact, "Keep user, host and serial numbers in the JSON");
  command.add_flag("-v,--verbose", options.verbose, "A line for each step instead of the bar");
  command.add_option("--prefix", options.prefix, "Folder that the kernels are installed in")->type_name("DIR");
  command.add_option("--runtime", options.runtime, "Driver library to use (default: the one found)")->type_name("FILE");
  command.add_option("--toolchain", options.toolchain, "With --tune: compiler to use")->type_name("COMPILER");
  command.add_option("--target", options.machine.target, "With --model: the target")->type_name("GFX")->check(is_target);
  command.add_option("--python", options.machine.python, "Interpreter or environment whose HIP runtime is used")->type_name("PATH");
  command.footer("Exit status: 0 measured, or shown; 1 no GPU, wrong numbers, or something did not run; 2 wrong usage.\n"
                 "Against torch's attention:  python -m sage_doctor_attention.bench");
}

/// `run -- COMMAND...`: what follows the first "--" is the command's, word for word, and is not parsed.
std::vector<std::string> take_command(int& argc, const char* const* argv) {
  if (argc < 2 || std::string_view(argv[1]) != "run") return {};
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--") continue;
    std::vector<std::string> command(argv + i + 1, argv + argc);
    argc = i;
    return command;
  }
  return {};
}

int usage_error(const CLI::App& app, const CLI::ParseError& problem, int argc, const char* const* argv) {
  std::string hint;
  if (argc > 1 && app.get_subcommands().empty()) hint = did_you_mean(argv[1], command_names);
  spdlog::error("{}{}", problem.what(), hint);
  spdlog::error("'sage-doctor --help' shows what can be asked");
  return exit_usage;
}

/// Our own program in a process that has nothing to lose.
int run_internal(const std::vector<std::string>& arguments) {
  if (const std::optional<int> status = run_smoke_child(arguments)) return *status;
  if (const std::optional<int> status = run_bench_child(arguments)) return *status;
  return run_proof(arguments);
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  prepare_standard_streams();
  prepare_log();
  if (argc > 1 && argv[1] == proof_verb) return run_internal({argv + 2, argv + argc});

  CLI::App app("Finds out why PyTorch does not see an AMD GPU, and says what to do about it.", "sage-doctor");
  app.set_version_flag("--version", "sage-doctor " SAGE_VERSION);
  app.require_subcommand(1);
  app.footer("Exit status: 0 no failure; 1 a failure was found (with --strict also a warning); 2 wrong usage, or an\n"
             "error of sage-doctor itself. Nothing is sent or downloaded; only 'build' and 'bench --tune' write, below their prefix.");

  CheckOptions check;
  CLI::App* check_command = app.add_subcommand("check", "Look at this machine and report what is wrong and why");
  add_machine_options(*check_command, check.machine, true);
  add_deep_option(*check_command, check.machine);
  add_report_options(*check_command, check.report);
  check_command->add_option("--only", check.only, "Only checks whose id or topic matches this glob (repeatable)")
      ->type_name("GLOB")->delimiter(',')->allow_extra_args(false);
  check_command->add_option("--skip", check.skip, "No checks whose id or topic matches this glob (repeatable)")
      ->type_name("GLOB")->delimiter(',')->allow_extra_args(false);

  DiagnoseOptions diagnose;
  CLI::App* diagnose_command = app.add_subcommand(
      "diagnose", "Say what a build log, Python traceback or kernel log means, and what to do about it");
  diagnose_command->add_option("LOG", diagnose.log, "The log; without it, or with '-', standard input")->type_name("");
  add_machine_options(*diagnose_command, diagnose.machine, true);
  diagnose_command->add_flag("--log-only", diagnose.log_only, "Look at the log alone, not at this machine: it comes from elsewhere")
      ->excludes("--capture");
  add_report_options(*diagnose_command, diagnose.report);
  diagnose_command->footer("Exit status: 1 a failure was found; 0 only what is harmless or a warning; 2 wrong usage, or the log\n"
                           "can't be read; 3 no rule knows what the log says.\n"
                           "Use it:  command 2>&1 | sage-doctor diagnose");

  LibsOptions libs;
  CLI::App* libs_command = app.add_subcommand(
      "libs", "Show the copies of the ROCm runtime, or what loading a file brings into a process and why");
  libs_command->add_option("FILE", libs.file, "A library or program; nothing of it is run");
  add_machine_options(*libs_command, libs.machine, true);
  libs_command->add_option("--program", libs.program, "The program that opens FILE, such as a Python interpreter")
      ->type_name("FILE");
  libs_command->add_option("--then", libs.then, "Open this afterwards, a path or a plain name (repeatable)")
      ->type_name("NAME")->allow_extra_args(false);
  libs_command->add_option("--caller", libs.caller, "The loaded library that opens what --then names, whose own search "
                                                    "path counts (default: the program)")->type_name("FILE");
  libs_command->add_flag("--json", libs.json, "As JSON (docs/libs-schema.json), redacted");
  libs_command->add_flag("!--no-redact", libs.redact, "Keep user, host and serial numbers in the JSON");

  CaptureOptions capture;
  CLI::App* capture_command =
      app.add_subcommand("capture", "Record what the probes read into a folder that check --capture can replay");
  capture_command->add_option("DIR", capture.folder, "Folder to write; it must not exist yet or be empty")->required();
  add_machine_options(*capture_command, capture.machine, false);
  add_deep_option(*capture_command, capture.machine);
  capture_command->add_flag("!--no-redact", capture.redact, "Keep user, host and serial numbers");

  EnvOptions env;
  CLI::App* env_command =
      app.add_subcommand("env", "Print the script that sets up the toolchain and runtime found here");
  add_env_options(*env_command, env);
  env_command->add_option("--shell", env.shell, "bash, zsh, sh, dash, fish, csh, powershell, dotenv, github, docker, "
                                                "json or modulefile (default: by $SHELL)")->type_name("SHELL");
  env_command->add_option("-o,--output", env.output, "Write to this file; it stays as it is when something fails")
      ->type_name("FILE");
  env_command->add_option("--check", env.check, "Say whether this script still fits the machine (exit status 1: no)")
      ->type_name("FILE");
  env_command->footer("Exit status: 0 the script was printed, or still fits; 1 nothing usable was found, or the script is\n"
                      "stale; 2 wrong usage, or the output could not be written.\n"
                      "Use it:  sage-doctor env -o env_amd.sh && . ./env_amd.sh     Undo it:  sage_doctor_deactivate");

  BuildOptions build;
  CLI::App* build_command = app.add_subcommand(
      "build", "Build the attention kernels with what is here, verify them, try them and install them");
  build_command->add_option("--target", build.targets, "gfx targets or 'all', separated by commas (default: this machine's GPUs)")
      ->type_name("GFX")->delimiter(',')->allow_extra_args(false)
      ->check([](const std::string& text) { return text == "all" ? "" : is_target(text); });
  build_command->add_option("--toolchain", build.toolchain, "Compiler to use: a path, hipcc, amdclang++, clang++, hipRTC, comgr or nvcc")
      ->type_name("COMPILER");
  build_command->add_option("--prefix", build.prefix, "Folder to install into (default: sage-doctor in the user's data folder)")
      ->type_name("DIR");
  build_command->add_option("-j,--jobs", build.jobs, "Compilers at a time (default: by cores and free memory)")
      ->type_name("N")->check(CLI::Range(1, 1024));
  build_command->add_flag("--install", build.install, "Also install the package sage-doctor-attention into the Python environment");
  build_command->add_flag("--keep-going", build.keep_going, "Try every kernel also after one failed");
  build_command->add_flag("--require-gpu", build.require_gpu, "Fail where the kernels can't be run on a GPU");
  build_command->add_flag("--dry-run", build.dry_run, "Print the commands that would be run, and do nothing");
  build_command->add_flag("--clean", build.clean, "Remove the cache and old versions, and do nothing else");
  build_command->add_flag("--json", build.json, "Summary as JSON (docs/build-schema.json), redacted");
  build_command->add_flag("!--no-redact", build.redact, "Keep user, host and serial numbers in the JSON");
  build_command->add_flag("-v,--verbose", build.verbose, "A line for each kernel instead of the bar");
  build_command->add_option("--capture", build.machine.capture, "With --dry-run: look at a captured machine instead")
      ->type_name("DIR");
  build_command->add_option("--config", build.machine.config_file, "Configuration file")->type_name("FILE");
  build_command->add_option("--python", build.machine.python, "Interpreter or environment to look at and to install into")
      ->type_name("PATH");

  TestOptions test;
  CLI::App* test_command = app.add_subcommand("test", "Try the installed kernels again against attention in double precision");
  test_command->add_option("--prefix", test.prefix, "Folder that they are installed in")->type_name("DIR");
  test_command->add_flag("--require-gpu", test.require_gpu, "Fail where they can't be run on a GPU");
  test_command->add_option("--python", test.machine.python, "Interpreter or environment whose HIP runtime is used")
      ->type_name("PATH");

  BenchOptions bench;
  CLI::App* bench_command = app.add_subcommand("bench", "Measure the installed kernels on the GPU: speed, spread, accuracy");
  add_bench_options(*bench_command, bench);

  EnvOptions run;
  CLI::App* run_command = app.add_subcommand(
      "run", "Run a command in that environment: sage-doctor run [OPTIONS] -- COMMAND...");
  add_env_options(*run_command, run);
  run_command->footer("Exit status: that of the command; 125 nothing usable was found, or wrong usage; 126 the command\n"
                      "cannot be run; 127 there is no such command.");
  InspectCommandOptions inspect;
  CLI::App* inspect_command = app.add_subcommand(
      "inspect", "Show what a library, program, code object, offload bundle or .kpack file says of itself");
  inspect_command->add_option("FILE", inspect.file, "The file to look into; it is only read")->required();
  inspect_command->add_flag("--json", inspect.json, "As JSON (docs/inspect-schema.json), redacted");
  inspect_command->add_flag("!--no-redact", inspect.redact, "Keep user, host and serial numbers in the JSON");
  inspect_command->add_flag("--exports", inspect.exports, "Also list the symbols that it offers to others");
  inspect_command->add_flag("--kernels", inspect.kernels, "List GPU kernels of large files too");

  ToolchainsOptions toolchains;
  CLI::App* toolchains_command =
      app.add_subcommand("toolchains", "List compilers for GPUs, and what each can build for a gfx target");
  toolchains_command->add_flag("--json", toolchains.json, "As JSON, redacted");
  toolchains_command->add_flag("!--no-redact", toolchains.redact, "Keep user, host and serial numbers in the JSON");
  add_machine_options(*toolchains_command, toolchains.machine, true);

  bool list_json = false;
  CLI::App* list_command = app.add_subcommand("list", "List all checks");
  list_command->add_flag("--json", list_json, "As JSON");

  std::string explain_id;
  CLI::App* explain_command = app.add_subcommand("explain", "Show the page about a check");
  explain_command->add_option("ID", explain_id,
                              "A check id, as 'list' and the report show it; 'symptoms' for the index by what you see");

  std::vector<std::string> command = take_command(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return write_product(app.help(), 0);
  } catch (const CLI::CallForAllHelp& help) {
    return write_product(app.help("", CLI::AppFormatMode::All), 0);
  } catch (const CLI::CallForVersion& version) {
    return write_product(std::string(version.what()) + "\n", 0);
  } catch (const CLI::ParseError& problem) {
    const int status = usage_error(app, problem, argc, argv);
    return run_command->parsed() ? run_usage_status : status;
  }

  if (check.report.verbose || diagnose.report.verbose || bench.verbose) spdlog::set_level(spdlog::level::debug);
  if (check_command->parsed()) return run_check(check);
  if (diagnose_command->parsed()) return run_diagnose(diagnose);
  if (libs_command->parsed()) return run_libs(libs);
  if (capture_command->parsed()) return run_capture(capture);
  if (env_command->parsed()) return env.check.empty() ? run_env(env) : run_env_check(env);
  if (build_command->parsed()) return run_build(build);
  if (test_command->parsed()) return run_test(test);
  if (bench_command->parsed()) return run_bench(bench);
  if (run_command->parsed()) return run_in_environment(run, std::move(command));
  if (inspect_command->parsed()) return run_inspect(inspect);
  if (toolchains_command->parsed()) return run_toolchains(toolchains);
  if (list_command->parsed()) return run_list(list_json);
  return run_explain(explain_id);
}

}  // namespace sage
