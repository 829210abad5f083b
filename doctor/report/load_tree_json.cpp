#include <nlohmann/json.hpp>

#include "doctor/report/redacted_json.hpp"
#include "doctor/report/load_tree.hpp"

namespace sage {
namespace {

using Json = nlohmann::ordered_json;

constexpr int libs_schema_version = 1;

Json path_or_null(const std::vector<LoadedObject>& objects, const std::optional<std::size_t>& index) {
  return index ? Json(objects[*index].path) : Json(nullptr);
}

Json request_json(const LoaderRequest& request, const std::vector<LoadedObject>& objects) {
  return {
      {"name", request.name},
      {"path", path_or_null(objects, request.object)},
      {"loaded", request.loaded},
      {"rule", enum_name(request.rule)},
      {"reason", request.reason},
      {"passed_over", request.passed_over},
  };
}

Json stage_json(const LoadStage& stage) {
  Json requests = Json::array();
  for (std::size_t i = stage.first; i < stage.objects.size(); ++i) {
    for (const LoaderRequest& request : stage.objects[i].requests) {
      Json row = {{"requester", stage.objects[i].path}};
      row.update(request_json(request, stage.objects));
      requests.push_back(std::move(row));
    }
  }
  Json json = request_json(stage.request, stage.objects);
  json["name"] = stage.name;
  json["failed"] = stage.failed;
  json["missing"] = stage.missing;
  json["requests"] = std::move(requests);
  return json;
}

Json object_json(const LoadedObject& object, const std::vector<LoadedObject>& objects) {
  const auto library = runtime_library_of(object);
  return {
      {"path", object.path},
      {"canonical", object.identity.canonical},
      {"soname", object.elf->soname},
      {"runtime_library", library ? Json(enum_name(*library)) : Json(nullptr)},
      {"loaded_by", path_or_null(objects, object.loader)},
  };
}

}  // namespace

std::string load_tree_json(const LoadStory& story, Redaction redaction) {
  Json json = {{"schema_version", libs_schema_version}};
  json["preloads"] = Json::array();
  for (const LoaderRequest& preload : story.preloads) json["preloads"].push_back(request_json(preload, story.process));
  json["stages"] = Json::array();
  for (const LoadStage& stage : story.stages) json["stages"].push_back(stage_json(stage));
  json["process"] = Json::array();
  for (const LoadedObject& object : story.process) json["process"].push_back(object_json(object, story.process));
  json["second_copies"] = Json::array();
  for (const std::size_t i : second_copies(story.process)) json["second_copies"].push_back(story.process[i].path);
  redact_texts(json, redaction);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sage
