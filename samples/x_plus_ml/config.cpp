#include "config.hpp"

#include <limits>
#include <stdexcept>

#include "common/json_file.hpp"
#include "config_names.hpp"

namespace {

using samples::Json;

const Json& required_object(const Json& json, const std::string& key) {
  const auto found = json.find(key);
  if (found == json.not_found() || found->second.empty())
    throw std::runtime_error("the configuration has no object \"" + key + "\"");
  return found->second;
}

float required_number(const Json& json, const std::string& key) {
  samples::required_text(json, key);
  return samples::number_value(json, key).value();
}

vart::PreProcessType resizing_in(const Json& json) {
  if (!samples::bool_value(json, "maintain-aspect-ratio").value_or(false))
    return vart::PreProcessType::DEFAULT;
  return resizing_named(samples::required_text(json, "resizing-type"));
}

PreprocessConfig read_preprocess(const Json& json) {
  PreprocessConfig config;
  config.info.mean_r = required_number(json, "mean-r");
  config.info.mean_g = required_number(json, "mean-g");
  config.info.mean_b = required_number(json, "mean-b");
  config.info.scale_r = required_number(json, "scale-r");
  config.info.scale_g = required_number(json, "scale-g");
  config.info.scale_b = required_number(json, "scale-b");
  config.info.preprocess_type = resizing_in(json);
  config.info.symmetric_padding = samples::bool_value(json, "symmetric-padding").value_or(false);
  if (const auto name = samples::text_value(json, "colour-format"); name && !name->empty())
    config.format = colour_format_named(*name);
  config.quantisation = samples::number_value(json, "quant-scale-factor");
  config.json = json;
  return config;
}

PostprocessConfig read_postprocess(const Json& json) {
  const PostprocessFunction function = function_named(samples::required_text(json, "type"));
  PostprocessConfig config;
  config.type = function.type;
  config.result = function.result;
  config.scales = samples::number_list(json, "quant-scale-factors");
  config.json = json;
  return config;
}

ModelConfig read_model(const Json& json, const std::string& log_level) {
  const Json& inference = required_object(json, "inference-config");
  ModelConfig config;
  config.archive = samples::required_text(inference, "model-file");
  config.runner =
      samples::read_runner_options(samples::child_of(inference, "runner-options"), log_level);
  config.preprocess = read_preprocess(required_object(json, "preprocess-config"));
  config.postprocess = read_postprocess(required_object(json, "postprocess-config"));
  if (json.find("metaconvert-config") != json.not_found())
    config.metaconvert_json = samples::json_text(samples::child_of(json, "metaconvert-config"));
  return config;
}

ModelConfig read_entry(const Json& entry, const std::string& log_level) {
  const auto path = samples::text_value(entry, "config-path");
  return read_model(path ? samples::read_json(*path) : entry, log_level);
}

}  // namespace

AppConfig read_app_config(const std::string& path, const std::string& log_level) {
  const Json json = samples::read_json(path);
  if (!samples::bool_value(json, "preprocess-en").value_or(true))
    throw std::runtime_error("\"preprocess-en\" takes true; ml_vart runs models on tensor files");
  AppConfig config;
  config.xclbin = samples::text_value(json, "xclbin-location").value_or("");
  config.device_index = static_cast<int32_t>(
      samples::integer_value(json, "device-index", std::numeric_limits<int32_t>::min(),
                             std::numeric_limits<int32_t>::max())
          .value_or(config.device_index));
  for (const auto& [key, entry] : samples::child_of(json, "models-config")) {
    const std::string place = path + ", model " + std::to_string(config.models.size()) + ": ";
    if (!key.empty()) throw std::runtime_error("\"models-config\" takes a list of objects");
    try {
      config.models.push_back(read_entry(entry, log_level));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(place + error.what());
    }
  }
  if (config.models.empty())
    throw std::runtime_error(path + " lists no model in \"models-config\"");
  return config;
}
