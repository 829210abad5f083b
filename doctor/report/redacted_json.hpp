#pragma once

#include <nlohmann/json.hpp>

#include "probes/base/redaction.hpp"

namespace sage {

/// Calls `visit` with every text value in `json`, however deep. Keys are not visited.
template <class Json, class Visit>
void visit_texts(Json& json, const Visit& visit) {
  if (json.is_string()) {
    visit(json.template get_ref<std::string&>());
  } else if (json.is_structured()) {
    for (Json& inner : json) visit_texts(inner, visit);
  }
}

/// Shows every text to `redaction` and then replaces them.
template <class Json>
void redact_texts(Json& json, Redaction& redaction) {
  visit_texts(json, [&](const std::string& text) { redaction.learn(text); });
  visit_texts(json, [&](std::string& text) { text = redaction.apply(text); });
}

}  // namespace sage
