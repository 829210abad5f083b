#include "doctor/report/load_tree.hpp"

#include <algorithm>

#include "doctor/report/wrap.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

// A chain can be as long as there are libraries; beyond this the lines stay where they are.
constexpr std::size_t deepest_indent = 12;
constexpr std::size_t deepest = 200;

class TreeWriter {
 public:
  TreeWriter(const LoadStage& stage, std::size_t width) : stage_(stage), width_(width) {
    for (const std::size_t i : second_copies(stage.objects)) second_.push_back(i);
  }

  std::string run(const std::string& title) {
    line(title, "", "  ");
    if (stage_.request.object && stage_.request.loaded) {
      children(*stage_.request.object, "", 0);
    } else if (stage_.request.object) {
      line(stage_.request.reason + ": " + stage_.objects[*stage_.request.object].path, "  ", "    ");
    } else {
      line("NOT FOUND: " + stage_.request.reason, "  ", "    ");
    }
    return std::move(out_);
  }

 private:
  void line(const std::string& text, const std::string& first, const std::string& rest) {
    out_ += wrapped(printable(text), first, rest, width_);
  }

  [[nodiscard]] std::string copy_mark(std::size_t object) const {
    if (std::find(second_.begin(), second_.end(), object) == second_.end()) return "";
    const auto library = runtime_library_of(stage_.objects[object]);
    for (std::size_t i = 0; i < object; ++i) {
      if (runtime_library_of(stage_.objects[i]) == library) {
        return "SECOND COPY of " + std::string(enum_name(*library)) + ", beside " + stage_.objects[i].path;
      }
    }
    return "";
  }

  void children(std::size_t object, const std::string& indent, std::size_t depth) {
    const auto& requests = stage_.objects[object].requests;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const bool last = i + 1 == requests.size();
      request(requests[i], indent, last, depth);
    }
  }

  void request(const LoaderRequest& asked, const std::string& indent, bool last, std::size_t depth) {
    const std::string head = indent + (last ? "`- " : "|- ");
    const std::string below = indent + (last ? "   " : "|  ");
    if (!asked.object) {
      line(asked.name + " NOT FOUND: " + asked.reason, head, below);
    } else if (!asked.loaded && !asked.same_file) {
      const bool runtime = runtime_library_of(stage_.objects[*asked.object]).has_value();
      const std::string where = runtime ? " -> " + stage_.objects[*asked.object].path : "";
      line(asked.name + where + " (" + asked.reason + ")", head, below);
    } else {
      line(asked.name + " -> " + stage_.objects[*asked.object].path, head, below);
      line("by " + asked.reason, below + "  ", below + "  ");
    }
    for (const std::string& file : asked.passed_over) line("passed over: " + file, below + "  ", below + "  ");
    if (!asked.object || !asked.loaded) return;
    if (const std::string mark = copy_mark(*asked.object); !mark.empty()) line(mark, below + "  ", below + "  ");
    if (depth < deepest) children(*asked.object, depth < deepest_indent ? below : indent, depth + 1);
  }

  const LoadStage& stage_;
  std::size_t width_;
  std::vector<std::size_t> second_;
  std::string out_;
};

std::string title_of(const LoadStory& story, const LoadStage& stage) {
  const bool is_start = &stage == &story.stages.front();
  if (is_start) return stage.name;
  const std::string& program = story.stages.front().name;
  const std::string who = program.empty() ? "a plain program" : file_name(program);
  const bool found = stage.request.object.has_value();
  const std::string file = found ? stage.objects[*stage.request.object].path : stage.name;
  return file + ", opened by " + who + (contains(stage.name, "/") ? "" : " as " + stage.name);
}

}  // namespace

std::string load_tree_text(const LoadStory& story, std::size_t width) {
  std::string out;
  for (const LoaderRequest& preload : story.preloads) {
    const std::string got = preload.object ? story.process[*preload.object].path : "NOT FOUND";
    out += wrapped(printable(preload.name + " -> " + got + " (" + preload.reason + ")"), "LD_PRELOAD ", "  ", width);
  }
  for (const LoadStage& stage : story.stages) {
    const bool plain_start = &stage == &story.stages.front() && stage.name.empty();
    if (plain_start) continue;
    if (!out.empty()) out += '\n';
    out += TreeWriter(stage, width).run(title_of(story, stage));
    if (stage.failed) {
      out += wrapped(printable("It can't be loaded: " + join(stage.missing, ", ") + " missing."), "", "  ", width);
    }
  }
  const std::vector<std::size_t> further = second_copies(story.process);
  out += '\n';
  if (further.empty()) {
    out += "No runtime library is there twice.\n";
  } else {
    std::vector<std::string> paths;
    for (const std::size_t i : further) paths.push_back(story.process[i].path);
    out += wrapped(printable("Second copies of a runtime library in one process: " + join(paths, ", ")), "", "  ", width);
  }
  return out;
}

}  // namespace sage
