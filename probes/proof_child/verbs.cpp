#include "probes/proof_child/verbs.hpp"

#include <cstdio>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "probes/facts/facts_json.hpp"
#include "probes/host/program.hpp"
#include "probes/proof_child/compile_unit.hpp"
#include "probes/proof_child/warden.hpp"

namespace sage {
namespace {

using Options = std::map<std::string, std::string>;

constexpr int bad_usage = 2;

// What a compiler or a runtime may take twice: the attempt without an option, the launch after the interview.
constexpr std::chrono::seconds longest_compile = 2 * compile_deadline + std::chrono::seconds(5);
constexpr std::chrono::seconds longest_runtime = 2 * runtime_deadline + longest_compile;
constexpr std::chrono::seconds longest_python = python_deadline + std::chrono::seconds(5);
// The warden ends in time by itself; the parent kills it only when it does not.
constexpr std::chrono::seconds grace{5};

template <class Proof>
int print(const Proof& proof) {
  using Json = nlohmann::ordered_json;
  const std::string text = proof_to_json(proof).dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}

std::vector<std::string> arguments_of(const std::string& what, const std::vector<std::string>& rest) {
  std::vector<std::string> arguments = {std::string(own_program), std::string(proof_verb), what};
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  return arguments;
}

/// The value of a required option; nullopt when it is missing.
std::optional<std::string> given(const Options& options, const char* name) {
  const auto found = options.find(name);
  return found == options.end() ? std::nullopt : std::optional(found->second);
}

template <class E>
std::optional<E> named(const Options& options, const char* name) {
  const auto text = given(options, name);
  return text ? enum_from_name<E>(*text) : std::nullopt;
}

int refuse() {
  std::fputs("'sage-doctor internal' is how sage-doctor starts itself; it is not for use by hand\n", stderr);
  return bad_usage;
}

int run_compile(const Options& options) {
  const auto compiler = given(options, "--compiler");
  const auto kind = named<CompilerKind>(options, "--kind");
  const auto target = given(options, "--target");
  const auto source = named<ProofSource>(options, "--source");
  if (!compiler || !kind || !target || !source) return refuse();
  const CompileRequest request{*compiler, *kind, *target, *source};
  return guard(longest_compile, [&] { return print(compile(request).proof); });
}

int run_runtime(const Options& options) {
  const auto library = given(options, "--library");
  const auto path = given(options, "--compiler");
  const auto kind = named<CompilerKind>(options, "--kind");
  if (!library || path.has_value() != kind.has_value()) return refuse();
  const auto compiler = path ? std::optional(CompilerChoice{*path, *kind}) : std::nullopt;
  return guard(longest_runtime, [&] { return print(prove_runtime(*library, compiler)); });
}

int run_python(const Options& options) {
  const auto executable = given(options, "--executable");
  if (!executable) return refuse();
  return guard(longest_python, [&] { return print(prove_python(*executable)); });
}

int run_compile_unit(const Options& options) {
  const auto kind = named<CompilerKind>(options, "--kind");
  const auto library = given(options, "--compiler");
  const auto target = given(options, "--target");
  const auto unit = given(options, "--unit");
  const auto source = given(options, "--source");
  const auto output = given(options, "--output");
  const bool of_library = kind == CompilerKind::hiprtc || kind == CompilerKind::comgr;
  if (!of_library || !library || !target || !unit || !source || !output) return refuse();
  compile_unit({*kind, *library, *target, *unit, *source, *output});
}

}  // namespace

ProofCall call_for(const CompileRequest& request) {
  return {arguments_of("compile", {"--compiler", request.compiler, "--kind", std::string(enum_name(request.kind)),
                                   "--target", request.target, "--source", std::string(enum_name(request.source))}),
          longest_compile + grace};
}

ProofCall call_for_runtime(const std::string& library, const std::optional<CompilerChoice>& compiler) {
  std::vector<std::string> rest = {"--library", library};
  if (compiler) {
    rest.insert(rest.end(), {"--compiler", compiler->path, "--kind", std::string(enum_name(compiler->kind))});
  }
  return {arguments_of("runtime", rest), longest_runtime + grace};
}

ProofCall call_for_python(const std::string& executable) {
  return {arguments_of("python", {"--executable", executable}), longest_python + grace};
}

int run_proof(const std::vector<std::string>& arguments) {
  if (arguments.size() % 2 != 1) return refuse();
  Options options;
  for (std::size_t i = 1; i < arguments.size(); i += 2) options[arguments[i]] = arguments[i + 1];
  if (arguments[0] == "compile") return run_compile(options);
  if (arguments[0] == compile_unit_verb) return run_compile_unit(options);
  if (arguments[0] == "runtime") return run_runtime(options);
  if (arguments[0] == "python") return run_python(options);
  return refuse();
}

}  // namespace sage
