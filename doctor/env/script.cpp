// A plan in the words of a shell. What a language looks like stands in templates/env; how it quotes in quote.cpp; this
// file knows only which goes with which.

#include "doctor/env/script.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "doctor/env/quote.hpp"
#include "doctor/report/wrap.hpp"
#include "probes/base/embedded.hpp"
#include "probes/base/text.hpp"
#include "probes/base/text_template.hpp"

namespace sage {
namespace {

struct Language {
  Shell shell;
  std::string_view file;          ///< in templates/env; empty: JSON
  QuoteFunction quote;
  QuoteFunction quote_element;    ///< of a path list
};

constexpr auto languages = std::to_array<Language>({
    {Shell::sh, "posix.sh", quote_posix, quote_posix},
    {Shell::bash, "posix.sh", quote_posix, quote_posix},
    {Shell::dash, "posix.sh", quote_posix, quote_posix},
    {Shell::zsh, "posix.sh", quote_posix, quote_posix},
    {Shell::fish, "fish.fish", quote_fish, quote_fish},
    {Shell::csh, "csh.csh", quote_csh, quote_csh_element},
    {Shell::powershell, "powershell.ps1", quote_powershell, quote_powershell},
    {Shell::dotenv, "dotenv.env", quote_dotenv, quote_dotenv},
    {Shell::github, "github.env", quote_github, quote_github},
    {Shell::docker, "docker.dockerfile", quote_docker, quote_docker},
    {Shell::modulefile, "modulefile.tcl", quote_tcl, quote_tcl},
});

const Language* language_of(Shell shell) {
  const auto row =
      std::find_if(languages.begin(), languages.end(), [&](const Language& l) { return l.shell == shell; });
  return row == languages.end() ? nullptr : &*row;
}

TextTemplate template_of(const Language& language) {
  const auto files = embedded_env_templates();
  const auto file =
      std::find_if(files.begin(), files.end(), [&](const EmbeddedFile& f) { return f.name == language.file; });
  return TextTemplate(file == files.end() ? "" : file->text);
}

Error cannot_write(const EnvSetting& setting, Shell shell, const std::string& value, const std::string& reason) {
  return Error{0, "cannot write " + setting.variable + " for " + std::string(enum_name(shell)) + ": \"" +
                      one_line(value) + "\" has " + reason};
}

/// Comments are read in terminals of 80 columns.
constexpr std::size_t comment_width = 80;

/// A sentence as lines of a comment. No line ends with a backslash, which would draw the next one into it.
std::string comment(std::string_view text) {
  std::string result;
  for (const char c : wrapped(one_line(text), "# ", "# ", comment_width)) {
    if (c == '\n' && result.ends_with('\\')) result += ' ';
    result += c;
  }
  return result;
}

/// The same without the "# " and the line end that the template has.
std::string comment_words(std::string_view text) {
  const std::string lines = comment(text);
  return lines.substr(2, lines.size() - 3);
}

/// The words of one setting that every section may use.
using Words = std::map<std::string, std::string>;

Words words_of(const EnvSetting& setting) {
  Words words = {{"VARIABLE", setting.variable}, {"WHY", comment_words(setting.why)}};
  if (setting.kept) {
    words["KEEPS"] = comment_words(setting.variable + " keeps your own value " + *setting.kept + " (with --force: " +
                                   join(setting.values, ":") + "). " + setting.why);
  }
  return words;
}

/// One section for each element, put in front one after the other: the foremost comes last.
Result<std::string> elements_of(const EnvSetting& setting, const Language& language, const TextTemplate& parts) {
  std::string text;
  for (auto element = setting.values.rbegin(); element != setting.values.rend(); ++element) {
    if (element->empty() || contains(*element, ":")) {
      return cannot_write(setting, language.shell, *element,
                          "a colon, or nothing at all, between the colons of a list");
    }
    Result<std::string> quoted = language.quote_element(*element);
    if (!quoted) return cannot_write(setting, language.shell, *element, quoted.error().text);
    text += parts.fill("element", {{"VARIABLE", setting.variable}, {"VALUE", *quoted}});
  }
  return text;
}

Result<std::string> written(const EnvSetting& setting, const Language& language, const TextTemplate& parts,
                            bool force, const EnvironmentValues& after) {
  Words words = words_of(setting);
  if (setting.kept) return parts.fill("kept", words);
  if (setting.kind == SettingKind::prepend) {
    Result<std::string> elements = elements_of(setting, language, parts);
    if (!elements) return elements.error();
    words["ELEMENTS"] = *elements;
    const auto finished = after.find(setting.variable);
    const std::string& value = finished == after.end() ? std::string() : finished->second;
    // Only formats with finished values need the whole list in their own words.
    Result<std::string> resolved = language.quote(value);
    if (resolved) words["RESOLVED"] = *resolved;
    const std::string text = parts.fill("prepend", words);
    if (!resolved && contains(text, "@RESOLVED@")) {
      return cannot_write(setting, language.shell, value, resolved.error().text);
    }
    return text;
  }
  Result<std::string> quoted = language.quote(setting.values.front());
  if (!quoted) return cannot_write(setting, language.shell, setting.values.front(), quoted.error().text);
  words["VALUE"] = *quoted;
  return parts.fill(force ? "force" : "set", words);
}

/// What csh needs: a paragraph that takes it back for each variable that any script of ours may have set. Other
/// languages find them by name and have no such sections.
std::string undo_all(const TextTemplate& parts) {
  std::string text;
  for (const PlannedVariable& variable : planned_variables) {
    const bool list = variable.kind == SettingKind::prepend;
    text += parts.fill(list ? "undo_prepend" : "undo_set", {{"VARIABLE", std::string(variable.name)}});
  }
  return text;
}

/// "ROCM_PATH, PATH": what is not kept as it is.
std::string changed_names(const EnvPlan& plan) {
  std::vector<std::string> names;
  for (const EnvSetting& setting : plan.settings) {
    if (!setting.kept) names.push_back(setting.variable);
  }
  return join(names, ", ");
}

std::string heading(const EnvPlan& plan) {
  const std::string& root = plan.root;
  switch (plan.tier) {
    case Tier::compiler_root: return "Tier: compiler root" + (root.empty() ? "" : " " + root);
    case Tier::bare_clang: return "Tier: bare clang, no ROCm around it";
    case Tier::runtime_only: return "Tier: runtime only, no compiler";
  }
  return "";
}

std::string header_of(const EnvPlan& plan, Shell shell, const ScriptOrigin& origin) {
  std::vector<std::string> lines = {
      "Environment for ROCm, for " + std::string(enum_name(shell)) + ".",
      "Made by sage-doctor " + origin.tool_version + " on " + origin.time + ".",
      heading(plan) + (plan.description.empty() ? "." : " (" + plan.description + ")."),
      plan.force ? "Values of your own are replaced (--force)." : "Values of your own are kept."};
  if (const std::string names = changed_names(plan); !names.empty()) {
    lines.push_back("Sets " + names + ", with the reasons below.");
  }
  for (const std::string& note : plan.notes) lines.push_back(note);
  for (const std::string& finding : plan.mended) lines.push_back("Mends " + finding + ".");
  lines.push_back("Made from: " + plan.mark);
  lines.emplace_back("Is it still right: sage-doctor env --check FILE");
  std::string text;
  for (const std::string& line : lines) text += comment(line);
  return text;
}

Result<std::string> json_script(const EnvPlan& plan, const ScriptOrigin& origin, const EnvironmentValues& after) {
  nlohmann::ordered_json settings = nlohmann::ordered_json::array();
  for (const EnvSetting& setting : plan.settings) {
    for (const std::string& value : setting.values) {
      if (!is_utf8(value)) return cannot_write(setting, Shell::json, value, "bytes that are no UTF-8");
    }
    const auto finished = after.find(setting.variable);
    nlohmann::ordered_json row = {{"variable", setting.variable},
                                  {"kind", enum_name(setting.kind)},
                                  {"values", setting.values},
                                  {"result", nullptr},
                                  {"why", setting.why},
                                  {"kept", nullptr}};
    if (finished != after.end()) row["result"] = finished->second;
    if (setting.kept) row["kept"] = *setting.kept;
    settings.push_back(std::move(row));
  }
  const nlohmann::ordered_json document = {{"env_version", 1},
                                           {"tool", "sage-doctor " + origin.tool_version},
                                           {"time", origin.time},
                                           {"tier", enum_name(plan.tier)},
                                           {"root", plan.root},
                                           {"toolchain", plan.description},
                                           {"notes", plan.notes},
                                           {"mends", plan.mended},
                                           {"made_from", plan.mark},
                                           {"settings", std::move(settings)}};
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// Harmless in every language: what could end or open something there becomes a question mark.
std::string harmless(std::string_view text) {
  constexpr std::string_view odd = "'\"\\$`!{}[]<>";
  std::string result;
  for (const char c : text) {
    result += c >= ' ' && c <= '~' && odd.find(c) == std::string_view::npos ? c : '?';
  }
  return result;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      result += "\\x" + hex(byte, 2);
    } else {
      result += c;
    }
  }
  return is_utf8(result) ? result : harmless(result);
}

Result<std::string> write_script(const EnvPlan& plan, Shell shell, const ScriptOrigin& origin) {
  const EnvironmentValues after = activated(origin.values, plan);
  const Language* language = language_of(shell);
  if (language == nullptr) return json_script(plan, origin, after);

  const TextTemplate parts = template_of(*language);
  std::string settings;
  for (const EnvSetting& setting : plan.settings) {
    Result<std::string> text = written(setting, *language, parts, plan.force, after);
    if (!text) return text.error();
    settings += *text;
  }
  return parts.fill("script", {{"HEADER", header_of(plan, shell, origin)},
                               {"MARK", plan.mark},
                               {"SETTINGS", settings},
                               {"UNDO", undo_all(parts)}});
}

std::string failing_script(Shell shell, std::string_view reason) {
  const std::string text = harmless("sage-doctor env: " + std::string(reason));
  const Language* language = language_of(shell);
  if (language == nullptr) return nlohmann::ordered_json{{"error", text}}.dump() + "\n";
  const bool shell_word = language->quote == quote_posix || language->quote == quote_fish ||
                          language->quote == quote_csh || language->quote == quote_powershell ||
                          language->quote == quote_tcl;
  if (shell_word) return template_of(*language).fill("failure", {{"REASON", *language->quote(text)}});
  // With an equals sign the line would be one that sets something.
  std::string words = text;
  std::replace(words.begin(), words.end(), '=', ' ');
  return template_of(*language).fill("failure", {{"REASON", words}});
}

}  // namespace sage
