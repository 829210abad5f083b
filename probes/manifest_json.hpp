#pragma once

#include <cerrno>
#include <string>
#include <string_view>

#include "probes/base/result.hpp"
#include "probes/base/text.hpp"
#include "probes/facts/json_walk.hpp"
#include "probes/installed_manifest.hpp"

namespace sage {

/// A manifest, or the part of it that T names. Sources only: it brings in all of nlohmann-json.
template <class T>
Result<T> parse_manifest_as(std::string_view text) {
  using json_walk::Json;
  if (text.size() > most_manifest_bytes) {
    return Error{EFBIG, "longer than the " + human_bytes(most_manifest_bytes) + " that are read of it"};
  }
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Error{0, "it is no JSON"};
  if (!json.is_object() || !json.contains("version")) return Error{0, "version: is missing"};
  // First, since nothing else of another version need be as it is here.
  const Json& version = json["version"];
  if (version != manifest_version) {
    const std::string written = version.dump(-1, ' ', false, Json::error_handler_t::replace);
    return Error{0, "version: " + written.substr(0, 20) + " is not one that this sage-doctor knows"};
  }
  T manifest;
  if (auto problem = json_walk::read_value(json, "", manifest)) return *problem;
  return manifest;
}

}  // namespace sage
