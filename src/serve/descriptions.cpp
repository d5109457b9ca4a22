#include "serve/descriptions.h"

#include <nlohmann/json.hpp>
#include <span>

#include "serve/protocol/tensor_type.h"

namespace millrace::serve {
namespace {

using nlohmann::json;

std::string text_of(const json& description) {
  return description.dump(-1, ' ', false, json::error_handler_t::replace);
}

json tensors(const Model& model, std::span<const TensorInfo> infos) {
  json all = json::array();
  for (const TensorInfo& info : infos)
    all.push_back({{"name", info.name},
                   {"datatype", protocol_name(info.cpu.type)},
                   {"shape", metadata_shape(model, info)}});
  return all;
}

json duration(const ModelStatistics::Answers& answers) {
  return {{"count", answers.count}, {"ns", answers.nanoseconds}};
}

json statistics_of(const ServedModel& model) {
  const ModelStatistics statistics = model.statistics();
  return {{"name", model.name()},
          {"version", model.version()},
          {"last_inference", statistics.last_inference_ms},
          {"inference_count", statistics.frames},
          {"execution_count", statistics.jobs.succeeded},
          {"inference_stats",
           {{"success", duration(statistics.succeeded)}, {"fail", duration(statistics.failed)}}},
          {"batch_stats", json::array()}};
}

}  // namespace

std::string describe_server() {
  return text_of(
      {{"name", "millrace"},
       {"version", MILLRACE_VERSION},
       {"extensions", {"binary_tensor_data", "classification", "model_repository", "statistics"}}});
}

std::string describe_model(const ServedModel& served, const std::vector<std::string>& versions) {
  const Model& model = served.model();
  return text_of({{"name", served.name()},
                  {"versions", versions},
                  {"platform", "millrace"},
                  {"inputs", tensors(model, model.inputs())},
                  {"outputs", tensors(model, model.outputs())}});
}

std::string describe_repository(const ModelRepository& models) {
  json all = json::array();
  for (const auto& model : models.all())
    all.push_back({{"name", model->name()},
                   {"version", model->version()},
                   {"state", model->ready() ? "READY" : "UNAVAILABLE"},
                   {"reason", ""}});
  for (const FailedModel& model : models.failed())
    all.push_back({{"name", model.file.name},
                   {"version", model.file.version},
                   {"state", "UNAVAILABLE"},
                   {"reason", model.reason.message()}});
  return text_of(all);
}

std::string describe_statistics(const ModelRepository::Models& models) {
  json all = json::array();
  for (const auto& model : models) all.push_back(statistics_of(*model));
  return text_of({{"model_stats", std::move(all)}});
}

}  // namespace millrace::serve
