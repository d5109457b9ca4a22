#include "config.hpp"

#include <stdexcept>

#include "common/json_file.hpp"

Config read_config(const std::string& path) {
  const samples::Json json = samples::read_json(path);
  const samples::Json& inference = samples::child_of(json, "inference-config");
  Config config;
  config.model_file = samples::required_text(inference, "model-file");
  config.runner =
      samples::read_runner_options(samples::child_of(inference, "runner-options"), "INFO");
  for (const auto& [key, ifm] : samples::child_of(json, "ifms-config")) {
    if (!key.empty()) throw std::runtime_error("\"ifms-config\" takes a list of {name, file}");
    config.ifm_files[samples::required_text(ifm, "name")] = samples::required_text(ifm, "file");
  }
  config.ofms_dir = samples::text_value(json, "ofms-dir").value_or("output");
  return config;
}
