#pragma once

#include <nlohmann/json.hpp>

#include "probes/base/redaction.hpp"

namespace sage {

/// Replaces personal names in every text below `json`. All texts are learnt from first: a name that one of them gives
/// away stands in others too.
inline void redact_texts(nlohmann::ordered_json& json, Redaction& redaction) {
  const auto visit = [](auto& self, nlohmann::ordered_json& node, const auto& work) -> void {
    if (node.is_string()) {
      work(node.get_ref<std::string&>());
    } else if (node.is_structured()) {
      for (nlohmann::ordered_json& inner : node) self(self, inner, work);
    }
  };
  visit(visit, json, [&](std::string& text) { redaction.learn(text); });
  visit(visit, json, [&](std::string& text) { text = redaction.apply(text); });
}

}  // namespace sage
