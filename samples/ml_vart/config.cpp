#include "config.hpp"

#include <filesystem>
#include <limits>
#include <stdexcept>

#include "common/json_file.hpp"

namespace {

using samples::Json;

vart::TensorType tensor_type_in(const Json& options, const std::string& key) {
  const std::string text = samples::text_value(options, key).value_or("HW");
  if (text == "HW") return vart::TensorType::HW;
  if (text == "CPU") return vart::TensorType::CPU;
  throw std::runtime_error("\"" + key + "\" takes HW or CPU, not \"" + text + "\"");
}

void read_runner_options(const Json& json, Config& config) {
  constexpr int64_t kMostUnsigned = std::numeric_limits<unsigned>::max();
  constexpr int64_t kMostInt = std::numeric_limits<int>::max();
  config.input_type = tensor_type_in(json, "input-tensor-type");
  config.output_type = tensor_type_in(json, "output-tensor-type");
  auto& options = config.runner_options;
  options["input_tensor_type"] = std::string(vart::to_string(config.input_type));
  options["output_tensor_type"] = std::string(vart::to_string(config.output_type));
  options["log_level"] = samples::text_value(json, "log-level").value_or("INFO");
  options["aie_columns_sharing"] = samples::bool_value(json, "aie-columns-sharing").value_or(true);
  options["ai_analyzer_profiling"] =
      samples::bool_value(json, "ai-analyzer-profiling").value_or(false);
  if (const auto column = samples::integer_value(json, "start-column", 0, kMostUnsigned))
    options["start_column"] = static_cast<unsigned>(*column);
  if (const auto bank = samples::integer_value(json, "cma-index", 0, kMostInt))
    options["cma_index"] = static_cast<int>(*bank);
  if (const auto file = samples::text_value(json, "config-file")) {
    if (!std::filesystem::exists(*file))
      throw std::runtime_error("the config-file " + *file + " does not exist");
    options["config_json"] = *file;
  }
}

}  // namespace

Config read_config(const std::string& path) {
  const Json json = samples::read_json(path);
  const Json& inference = samples::child_of(json, "inference-config");
  Config config;
  config.model_file = samples::required_text(inference, "model-file");
  read_runner_options(samples::child_of(inference, "runner-options"), config);
  for (const auto& [key, ifm] : samples::child_of(json, "ifms-config")) {
    if (!key.empty()) throw std::runtime_error("\"ifms-config\" takes a list of {name, file}");
    config.ifm_files[samples::required_text(ifm, "name")] = samples::required_text(ifm, "file");
  }
  config.ofms_dir = samples::text_value(json, "ofms-dir").value_or("output");
  return config;
}
