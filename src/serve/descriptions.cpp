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
           {{"success", duration(statistics.succeeded)},
            {"fail", duration(statistics.failed)},
            {"queue", duration(statistics.queued)},
            {"compute_input", duration(statistics.read)},
            {"compute_infer", duration(statistics.computed)},
            {"compute_output", duration(statistics.written)}}},
          {"batch_stats", json::array()}};
}

}  // namespace

std::string describe_server(bool with_shared_memory) {
  json extensions = {"binary_tensor_data", "classification", "model_repository", "statistics"};
  if (with_shared_memory) extensions.push_back("system_shared_memory");
  return text_of(
      {{"name", "millrace"}, {"version", MILLRACE_VERSION}, {"extensions", std::move(extensions)}});
}

std::string describe_regions(const std::vector<std::shared_ptr<const SharedRegion>>& regions) {
  json all = json::array();
  for (const auto& region : regions)
    all.push_back({{"name", region->name()},
                   {"key", region->key()},
                   {"offset", region->offset()},
                   {"byte_size", region->bytes()}});
  return text_of(all);
}

std::string describe_model(const ServedModel& served, const std::vector<std::string>& versions) {
  const Model& model = served.model();
  return text_of({{"name", served.name()},
                  {"versions", versions},
                  {"platform", "millrace"},
                  {"inputs", tensors(model, model.inputs())},
                  {"outputs", tensors(model, model.outputs())}});
}

std::string describe_repository(const ModelRepository& models, bool only_ready) {
  json all = json::array();
  for (const auto& model : models.all()) {
    const bool ready = model->ready();
    if (only_ready && !ready) continue;
    all.push_back({{"name", model->name()},
                   {"version", model->version()},
                   {"state", ready ? "READY" : "UNAVAILABLE"},
                   {"reason", ""}});
  }
  if (only_ready) return text_of(all);
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
