// What the scripts do, done to a map: for `sage-doctor run`, for formats that hold finished values, and for checking a
// plan before it is printed. The notes are the protocol between all of them: a script in one shell takes back what
// another shell's, or `run`, has set, and a later plan tells its own values from the user's.

#include "doctor/env/environment_change.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::string_view names_variable = "SAGE_DOCTOR_ENV_NAMES";
constexpr std::string_view old_prefix = "SAGE_DOCTOR_ENV_OLD_";
constexpr std::string_view set_prefix = "SAGE_DOCTOR_ENV_SET_";
constexpr std::string_view added_prefix = "SAGE_DOCTOR_ENV_ADDED_";

std::optional<std::string> find(const EnvironmentValues& values, const std::string& name) {
  const auto entry = values.find(name);
  if (entry == values.end()) return std::nullopt;
  return entry->second;
}

std::string note(std::string_view prefix, const std::string& name) {
  return std::string(prefix) + name;
}

/// `list` without the first element that is `element`. The user's own empty elements stay.
std::string without_element(const std::string& list, std::string_view element) {
  std::vector<std::string> parts;
  bool taken = false;
  for (const std::string_view part : split(list, ':')) {
    if (!taken && part == element) {
      taken = true;
    } else {
      parts.emplace_back(part);
    }
  }
  return join(parts, ":");
}

void give_back(EnvironmentValues& values, const std::string& name, const std::optional<std::string>& old) {
  if (old) {
    values[name] = *old;
  } else {
    values.erase(name);
  }
}

void take_back(EnvironmentValues& values, const std::string& name) {
  const auto current = find(values, name);
  const auto old = find(values, note(old_prefix, name));
  const auto set = find(values, note(set_prefix, name));
  const auto added = find(values, note(added_prefix, name));
  for (const std::string_view prefix : {old_prefix, set_prefix, added_prefix}) values.erase(note(prefix, name));
  if (!current) return;
  if (added && !added->empty()) {
    std::string list = *current;
    for (const std::string_view element : split(*added, ':')) list = without_element(list, element);
    give_back(values, name, list.empty() && !old ? std::nullopt : std::optional(list));
  } else if (set && *current == *set) {
    give_back(values, name, old);
  }
}

void add_name(EnvironmentValues& values, const std::string& name) {
  std::string& names = values[std::string(names_variable)];
  names += (names.empty() ? "" : ":") + name;
}

void set(EnvironmentValues& values, const EnvSetting& setting, bool force) {
  const std::string& name = setting.variable;
  const std::string& value = setting.values.front();
  const auto old = find(values, name);
  if (old && (*old == value || (!old->empty() && !force))) return;
  if (old) values[note(old_prefix, name)] = *old;
  values[note(set_prefix, name)] = value;
  values[name] = value;
  add_name(values, name);
}

void prepend(EnvironmentValues& values, const std::string& name, const std::string& element) {
  const auto old = find(values, name);
  if (old && (*old == element || old->starts_with(element + ":"))) return;
  const auto added = find(values, note(added_prefix, name));
  if (!added) {
    add_name(values, name);
    if (old) values[note(old_prefix, name)] = "";
  }
  values[note(added_prefix, name)] = element + (added ? ":" + *added : "");
  values[name] = element + (old && !old->empty() ? ":" + *old : "");
}

}  // namespace

EnvironmentValues deactivated(EnvironmentValues values) {
  const std::string names = find(values, std::string(names_variable)).value_or("");
  for (const std::string_view name : split(names, ':')) {
    if (!name.empty()) take_back(values, std::string(name));
  }
  values.erase(std::string(names_variable));
  values.erase(mark_variable);
  return values;
}

EnvironmentValues activated(const EnvironmentValues& before, const EnvPlan& plan) {
  EnvironmentValues values = deactivated(before);
  values[mark_variable] = plan.mark;
  values[std::string(names_variable)] = "";
  for (const EnvSetting& setting : plan.settings) {
    if (setting.kept) continue;
    if (setting.kind == SettingKind::set) {
      set(values, setting, plan.force);
    } else {
      std::for_each(setting.values.rbegin(), setting.values.rend(),
                    [&](const std::string& element) { prepend(values, setting.variable, element); });
    }
  }
  return values;
}

}  // namespace sage
