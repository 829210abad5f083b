#include "doctor/env/fingerprint.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::string_view prefix = "sage-doctor-env/1";
constexpr std::string_view any_version = "sage-doctor-env/";
constexpr std::string_view unknown_value = "?";

bool plain(char c) {
  constexpr std::string_view others = "/._+-:";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         others.find(c) != std::string_view::npos;
}

bool of_a_mark(char c) {
  return plain(c) || c == ',' || c == '=' || c == '%';
}

std::string encoded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (plain(c)) {
      result += c;
    } else {
      result += "%" + hex(static_cast<unsigned char>(c), 2);
    }
  }
  return result;
}

std::string decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = text[i] == '%' ? parse_number(text.substr(i + 1, 2), 16) : std::nullopt;
    if (code) {
      result += static_cast<char>(*code);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

using Recorded = std::map<std::string, std::string, std::less<>>;

std::string recorded(const Recorded& mark, std::string_view key) {
  const auto entry = mark.find(key);
  return entry == mark.end() ? "" : entry->second;
}

// ---- the parts of a mark: each a function of the facts and of what the mark says already

/// The environment that the mark is about: the one that was named, or the one in use. Empty prefix: none.
Fact<PythonEnvironment> environment_of(const Facts& facts, const Recorded& mark) {
  if (!facts.python.environments.known()) {
    return Fact<PythonEnvironment>::unknown(facts.python.environments.why_unknown());
  }
  const std::string named = recorded(mark, "named") == "python" ? recorded(mark, "python") : "";
  for (const PythonEnvironment& environment : *facts.python.environments) {
    if (named.empty() || environment.prefix == named) return environment;
  }
  if (!named.empty()) return Fact<PythonEnvironment>::unknown(named + " was not looked at");
  return PythonEnvironment{};
}

Fact<std::string> python(const Facts& facts, const Recorded& mark) {
  const auto environment = environment_of(facts, mark);
  if (!environment.known()) return Fact<std::string>::unknown(environment.why_unknown());
  return environment->prefix;
}

Fact<std::string> python_version(const Facts& facts, const Recorded& mark) {
  const auto environment = environment_of(facts, mark);
  if (!environment.known()) return Fact<std::string>::unknown(environment.why_unknown());
  return environment->prefix.empty() ? Fact<std::string>("") : environment->version;
}

Fact<TorchInstall> torch_of(const Facts& facts, const Recorded& mark) {
  const auto environment = environment_of(facts, mark);
  if (!environment.known()) return Fact<TorchInstall>::unknown(environment.why_unknown());
  TorchInstall none;
  none.version = std::string();
  if (environment->prefix.empty()) return none;
  if (!environment->torch.known()) return Fact<TorchInstall>::unknown(environment->torch.why_unknown());
  return environment->torch->empty() ? none : environment->torch->front();
}

Fact<std::string> torch(const Facts& facts, const Recorded& mark) {
  const auto install = torch_of(facts, mark);
  return install.known() ? install->version : Fact<std::string>::unknown(install.why_unknown());
}

Fact<std::string> torch_folder(const Facts& facts, const Recorded& mark) {
  const auto install = torch_of(facts, mark);
  return install.known() ? Fact<std::string>(install->folder) : Fact<std::string>::unknown(install.why_unknown());
}

/// The root that the mark names as the facts have it: its version, or why that is unknown; nullopt: it is not there.
/// The Error: nobody can say.
Result<std::optional<Fact<std::string>>> root_of(const Facts& facts, const Recorded& mark) {
  const std::string root = recorded(mark, "root");
  for (const RocmRoot& candidate : facts.rocm.roots.value_or({})) {
    if (candidate.path == root) return std::optional(candidate.version);
  }
  for (const Toolchain& candidate : facts.toolchains.compilers.value_or({})) {
    if (candidate.root.is(root)) return std::optional(candidate.rocm_version);
  }
  // Trees of wheels and others are told by the libraries in them.
  for (const LibraryCopy& copy : facts.libraries.copies.value_or({})) {
    if (lies_in(copy.path, root)) return std::optional(copy.rocm_version);
  }
  if (!facts.rocm.roots.known()) return facts.rocm.roots.why_unknown();
  if (!facts.toolchains.compilers.known()) return facts.toolchains.compilers.why_unknown();
  return std::optional<Fact<std::string>>();
}

Fact<std::string> root_there(const Facts& facts, const Recorded& mark) {
  if (recorded(mark, "root").empty()) return std::string();
  const auto root = root_of(facts, mark);
  if (!root) return Fact<std::string>::unknown(root.error());
  return std::string(root->has_value() ? "there" : "");
}

/// Empty for a root that is not there: root_there() says so.
Fact<std::string> root_version(const Facts& facts, const Recorded& mark) {
  if (recorded(mark, "root").empty()) return std::string();
  const auto root = root_of(facts, mark);
  if (!root) return Fact<std::string>::unknown(root.error());
  return root->has_value() ? **root : Fact<std::string>::unknown("it is gone");
}

Fact<std::string> gpus(const Facts& facts, const Recorded&) {
  if (!facts.gpus.amd.known()) return Fact<std::string>::unknown(facts.gpus.amd.why_unknown());
  std::vector<std::string> targets;
  for (const Gpu& gpu : *facts.gpus.amd) {
    if (!gpu.target.known()) return gpu.target;
    targets.push_back(*gpu.target);
  }
  std::sort(targets.begin(), targets.end());
  return join(targets, "+");
}

struct Part {
  std::string_view key;
  std::string_view label;
  std::string_view fact;
  Fact<std::string> (*now)(const Facts&, const Recorded&);
};

constexpr auto parts = std::to_array<Part>({
    {"root_there", "ROCm root", "rocm.roots", root_there},
    {"root_version", "ROCm version", "rocm.roots.version", root_version},
    {"python", "Python environment", "python.environments", python},
    {"python_version", "Python", "python.environments.version", python_version},
    {"torch", "PyTorch", "python.environments.torch", torch},
    {"torch_folder", "PyTorch's folder", "python.environments.torch", torch_folder},
    {"gpus", "GPU", "gpus.amd", gpus},
});

Recorded read_mark(std::string_view mark) {
  Recorded result;
  for (const std::string_view part : split(mark.substr(prefix.size()), ',')) {
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos) {
      result[std::string(part.substr(0, equals))] = decoded(part.substr(equals + 1));
    }
  }
  return result;
}

bool is_mark(std::string_view text) {
  return text.starts_with(prefix) && (text.size() == prefix.size() || text[prefix.size()] == ',');
}

}  // namespace

std::string make_mark(const Facts& facts, const std::string& root, bool python_named) {
  Recorded mark = {{"root", root}};
  std::string text = std::string(prefix) + ",root=" + encoded(root);
  if (python_named) text += ",named=python";
  for (const Part& part : parts) {
    const Fact<std::string> value = part.now(facts, mark);
    text += "," + std::string(part.key) + "=" + encoded(value.known() ? *value : std::string(unknown_value));
  }
  return text;
}

std::optional<std::string> find_mark(std::string_view text) {
  const std::size_t begin = text.find(any_version);
  if (begin == std::string_view::npos) return std::nullopt;
  const auto* const end = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), of_a_mark);
  return std::string(text.begin() + static_cast<std::ptrdiff_t>(begin), end);
}

std::string drift_in_words(const Drift& drift) {
  const std::string then = drift.then.empty() ? "not there" : drift.then;
  return drift.what + " was " + then + " and is " + (drift.now.empty() ? "gone" : drift.now);
}

Result<MarkComparison> compare_mark(std::string_view mark, const Facts& facts) {
  if (!is_mark(mark)) return Error{0, "\"" + std::string(mark.substr(0, 40)) + "\" is no mark of this sage-doctor"};
  const Recorded then = read_mark(mark);
  MarkComparison result;
  for (const Part& part : parts) {
    const auto entry = then.find(part.key);
    // "%3f": it was not known when the mark was made, or is a key that an older program did not write.
    if (entry == then.end() || entry->second == unknown_value) continue;
    const Fact<std::string> now = part.now(facts, then);
    if (!now.known()) {
      result.unknown.push_back(std::string(part.fact) + ": " + now.why_unknown().text);
    } else if (*now != entry->second) {
      const bool root = part.key == "root_there";
      result.drifts.push_back({std::string(part.label), root ? recorded(then, "root") : entry->second, *now});
    }
  }
  return result;
}

std::string recorded_root(std::string_view mark) {
  return is_mark(mark) ? recorded(read_mark(mark), "root") : "";
}

std::string named_python(std::string_view mark) {
  if (!is_mark(mark)) return "";
  const Recorded then = read_mark(mark);
  return recorded(then, "named") == "python" ? recorded(then, "python") : "";
}

}  // namespace sage
