#include "probes/facts/environment.hpp"

namespace sage {

const Variable* Environment::find(std::string_view name) const {
  for (const Variable& variable : variables) {
    if (variable.name == name) return &variable;
  }
  return nullptr;
}

Fact<std::optional<std::string>> Environment::get(std::string_view name) const {
  const Variable* variable = find(name);
  if (variable == nullptr) return Fact<std::optional<std::string>>::unknown(std::string(name) + " was not recorded");
  return variable->value;
}

}  // namespace sage
