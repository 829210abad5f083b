#include "doctor/checks/wording.hpp"

#include <algorithm>
#include <array>

#include "probes/base/text.hpp"

namespace sage {
namespace {

std::string place(const Assignment& assignment) {
  return assignment.file + " line " + std::to_string(assignment.line);
}

std::string octal(std::uint32_t mode) {
  std::string digits;
  for (int shift = 9; shift >= 0; shift -= 3) digits += static_cast<char>('0' + ((mode >> shift) & 7U));
  return digits;
}

template <class T>
std::string number_or_unknown(const Fact<T>& fact) {
  return fact.known() ? std::to_string(*fact) : "?";
}

}  // namespace

std::string gpu_label(const Gpu& gpu) {
  return gpu.name.known() ? *gpu.name + " (" + gpu.id + ")" : gpu.id;
}

std::string gpu_name(const Gpu& gpu) {
  if (gpu.name.known()) return *gpu.name;
  return gpu.device_id.known() ? "AMD GPU 1002:" + hex(*gpu.device_id, 4) : "AMD GPU";
}

std::string name_and_target(const Gpu& gpu) {
  const std::string name = gpu_name(gpu);
  const std::string target = gpu.target.value_or("target unknown");
  return contains(name, target) ? name : name + " (" + target + ")";
}

std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:+=,@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string owner_and_mode(const DeviceNode& node) {
  return "owner " + number_or_unknown(node.uid) + ", group " + number_or_unknown(node.gid) + ", mode " +
         (node.mode.known() ? octal(*node.mode) : "?");
}

bool in_home_folder(std::string_view path) {
  // /var/home: systems whose root is an image keep the homes there. Root's own home is not among them: for root itself
  // leave_out_sudo() takes the word out of every command, and anybody else needs it.
  constexpr auto homes = std::to_array<std::string_view>({"/home/", "/var/home/"});
  return std::any_of(homes.begin(), homes.end(), [&](std::string_view home) { return path.starts_with(home); });
}

std::string edit_command(const std::string& file, std::uint32_t line) {
  // EDITOR may hold arguments, so it is not quoted.
  return std::string(in_home_folder(file) ? "" : "sudo ") + "${EDITOR:-nano} +" + std::to_string(line) + " " +
         shell_word(file);
}

std::vector<Evidence> log_evidence(const std::vector<std::string>& lines, std::size_t limit) {
  std::vector<Evidence> evidence;
  const std::size_t skipped = lines.size() > limit ? lines.size() - limit : 0;
  for (std::size_t i = skipped; i < lines.size(); ++i) evidence.push_back({"kernel log", lines[i]});
  return evidence;
}

std::vector<Evidence> variable_evidence(const Variable& variable) {
  std::vector<Evidence> evidence;
  if (variable.value.known() && variable.value->has_value()) {
    evidence.push_back({variable.name, "\"" + **variable.value + "\""});
  }
  if (variable.assignments.known()) {
    for (const Assignment& assignment : *variable.assignments) {
      evidence.push_back({place(assignment), variable.name + "=" + assignment.value});
    }
  }
  return evidence;
}

Remedy unset_remedy(const std::vector<const Variable*>& variables) {
  Remedy remedy;
  std::string unset = "unset";
  std::vector<std::string> places;
  std::vector<std::string> edits;
  for (const Variable* variable : variables) {
    unset += " " + variable->name;
    for (const Assignment& assignment : variable->assignments.value_or({})) {
      places.push_back(place(assignment));
      edits.push_back(edit_command(assignment.file, assignment.line));
    }
  }
  remedy.text = std::string("Remove ") + (variables.size() == 1 ? "it" : "them") + " from this shell";
  remedy.text += places.empty() ? "." : ", and delete " + join(places, " and ") + ", which would set it again.";
  remedy.commands = {unset};
  remedy.commands.insert(remedy.commands.end(), edits.begin(), edits.end());
  const bool system_wide =
      std::any_of(edits.begin(), edits.end(), [](const std::string& edit) { return edit.starts_with("sudo"); });
  if (system_wide) remedy.needs.push_back(Need::sudo);
  if (!edits.empty()) remedy.needs.push_back(Need::new_login);
  return remedy;
}

std::string set_where(const Variable& variable) {
  if (!variable.assignments.known() || variable.assignments->empty()) return "";
  std::vector<std::string> places;
  for (const Assignment& assignment : *variable.assignments) places.push_back(place(assignment));
  return " It is set in " + join(places, " and ") + ".";
}

}  // namespace sage
