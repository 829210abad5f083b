#include "doctor/report/library_list.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "doctor/report/redacted_json.hpp"
#include "doctor/report/wrap.hpp"
#include "probes/base/text.hpp"
#include "probes/facts/facts_json.hpp"

namespace sage {
namespace {

struct ScenarioText {
  LoadScenario scenario;
  std::string_view text;
};
constexpr std::array scenario_texts = {
    ScenarioText{LoadScenario::program, "a program that needs "},
    ScenarioText{LoadScenario::torch, "import torch"},
    ScenarioText{LoadScenario::torch_then_extension, "import torch, then "},
    ScenarioText{LoadScenario::extension, ""},
    ScenarioText{LoadScenario::extension_then_torch, "the other way round: "},
    ScenarioText{LoadScenario::triton, "import torch, then Triton opens "},
    ScenarioText{LoadScenario::bare_name, "import torch, then dlopen of plain names: "},
};

class ListWriter {
 public:
  explicit ListWriter(std::size_t width) : width_(width) {}

  std::string run(const Libraries& libraries) {
    line("Copies of the ROCm runtime", "", "");
    copies(libraries.copies);
    out_ += '\n';
    line("What a process gets", "", "");
    predictions(libraries.predictions);
    if (libraries.processes.known()) {
      out_ += '\n';
      line("What your running processes have", "", "");
      if (libraries.processes->empty()) line("none of them has any", "  ", "  ");
      for (const MappingProcess& process : *libraries.processes) {
        line(process.name + ": " + join(process.paths.value_or({}), ", "), "  ", "    ");
      }
    }
    return std::move(out_);
  }

 private:
  void line(const std::string& text, std::string_view first, std::string_view rest) {
    out_ += wrapped(printable(text), first, rest, width_);
  }

  void copies(const Fact<std::vector<LibraryCopy>>& all) {
    if (!all.known()) return line("unknown: " + all.why_unknown().text, "  ", "  ");
    if (all->empty()) line("none", "  ", "  ");
    for (const LibraryCopy& copy : *all) {
      line(copy.path, "  ", "  ");
      std::vector<std::string> words;
      words.push_back(copy.rocm_version.known() ? "ROCm " + *copy.rocm_version : "version unknown");
      if (copy.origin.known()) words.emplace_back(enum_name(*copy.origin));
      if (!copy.soname.value_or("").empty()) words.push_back("SONAME " + *copy.soname);
      if (copy.in_loader_cache.is(true)) words.emplace_back("in ld.so.cache");
      if (copy.in_library_path.is(true)) words.emplace_back("in LD_LIBRARY_PATH");
      line(join(words, ", "), "      ", "      ");
      for (const std::string& path : copy.other_paths.value_or({})) line("also " + path, "      ", "      ");
    }
  }

  void predictions(const Fact<std::vector<LoadPrediction>>& all) {
    if (!all.known()) return line("unknown: " + all.why_unknown().text, "  ", "  ");
    if (all->empty()) line("nothing here would load one", "  ", "  ");
    for (const LoadPrediction& prediction : *all) one(prediction);
  }

  [[nodiscard]] static std::string title(const LoadPrediction& prediction) {
    const auto row = std::find_if(scenario_texts.begin(), scenario_texts.end(), [&](const ScenarioText& text) {
      return prediction.scenario.is(text.scenario);
    });
    std::string text = row == scenario_texts.end() ? "" : std::string(row->text);
    if (!prediction.scenario.is(LoadScenario::torch)) text += prediction.subject;
    const bool model = prediction.example.is(true) && !prediction.scenario.is(LoadScenario::program);
    return text + (model ? " (a model: built against this ROCm, none was found)" : "");
  }

  void one(const LoadPrediction& prediction) {
    line(title(prediction), "  ", "    ");
    if (!prediction.copies.known()) return line("unknown: " + prediction.copies.why_unknown().text, "      ", "      ");
    std::vector<RuntimeLibrary> seen;
    for (const LoadedCopy& copy : *prediction.copies) {
      const RuntimeLibrary library = copy.library.value_or(RuntimeLibrary::amdhip64);
      const bool second = std::find(seen.begin(), seen.end(), library) != seen.end();
      seen.push_back(library);
      line((second ? "SECOND COPY " : "") + copy.path, "      ", "        ");
      line("by " + copy.rule.value_or("an unknown rule"), "          ", "          ");
    }
    for (const std::string& name : prediction.missing.value_or({})) line("NOT FOUND " + name, "      ", "        ");
    for (const UnmetVersion& gap : prediction.unmet_versions.value_or({})) {
      line("TOO OLD " + gap.library.value_or("?") + ": no " + gap.version.value_or("?") + " for " + gap.object, "      ",
           "        ");
    }
    const bool nothing = prediction.copies->empty() && prediction.missing.value_or({}).empty();
    if (nothing) line("no runtime library", "      ", "      ");
  }

  std::size_t width_;
  std::string out_;
};

}  // namespace

std::string library_list_text(const Libraries& libraries, std::size_t width) {
  return ListWriter(width).run(libraries);
}

std::string library_list_json(const Libraries& libraries, Redaction redaction) {
  Facts facts;
  facts.libraries = libraries;
  nlohmann::ordered_json json = {{"schema_version", 1}};
  json["libraries"] = facts_to_json(facts)["libraries"];
  redact_texts(json, redaction);
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sage
