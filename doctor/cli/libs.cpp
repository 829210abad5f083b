#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "doctor/cli/commands.hpp"
#include "doctor/cli/output.hpp"
#include "doctor/cli/session.hpp"
#include "doctor/report/library_list.hpp"
#include "doctor/report/load_tree.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/libraries.hpp"
#include "probes/loader/load_story.hpp"
#include "probes/look.hpp"
#include "probes/python.hpp"

namespace sage {
namespace {

/// A plain name is a file of the working folder when there is one: dlopen(3) alone would search for it.
std::string as_path(const Host& host, const std::string& file) {
  return !contains(file, "/") && exists(host, "./" + file).is(true) ? "./" + file : file;
}

/// Libraries have ".so" in their names; anything else is a program.
bool is_library(const std::string& file) {
  const std::string name = file_name(file);
  return name.ends_with(".so") || contains(name, ".so.");
}

int show_file(const Session& session, const LibsOptions& options) {
  const Host& host = *session.host;
  const std::string file = as_path(host, options.file);
  if (contains(file, "/")) {
    if (const auto elf = host.elf(file, {}); !elf) {
      spdlog::error("{}; 'libs' takes a library or a program", elf.error().text);
      return exit_usage;
    }
  }
  std::string program = options.program;
  std::vector<OpenCall> opened;
  if (is_library(file) || !program.empty()) {
    opened.push_back({file});
  } else {
    program = file;
  }
  for (const std::string& name : options.then) opened.push_back({name, options.caller});
  LoaderFiles files(host);
  const LoadStory story = tell_loads(files, program, opened);
  if (files.trouble()) spdlog::warn("incomplete: {}", files.trouble()->text);
  if (options.json) {
    return write_product(load_tree_json(story, options.redact ? make_redaction(host) : Redaction()), 0);
  }
  return write_product(load_tree_text(story, output_width()), 0);
}

}  // namespace

int run_libs(const LibsOptions& options) {
  Result<Session> opened = open_machine(options.machine);
  if (!opened) {
    spdlog::error("{}", opened.error().text);
    return exit_usage;
  }
  if (!options.file.empty()) return show_file(*opened, options);
  const Host& host = *opened->host;
  const Libraries libraries = probe_libraries(host, opened->probe_options, probe_python(host, opened->probe_options));
  if (options.json) {
    return write_product(library_list_json(libraries, options.redact ? make_redaction(host) : Redaction()), 0);
  }
  return write_product(library_list_text(libraries, output_width()), 0);
}

}  // namespace sage
