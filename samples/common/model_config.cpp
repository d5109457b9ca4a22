#include "common/model_config.hpp"

#include <stdexcept>

#include "common/json_file.hpp"

namespace samples {
namespace {

constexpr int64_t kLastColumn = 32;

ModelConfig read_model(const Json& object, std::size_t number) {
  ModelConfig config;
  config.number = number;
  config.path = required_text(object, "model_cache_path");
  config.start_column =
      static_cast<uint32_t>(integer_value(object, "start_column", 0, kLastColumn).value_or(0));
  config.aie_columns_sharing = bool_value(object, "aie_columns_sharing").value_or(true);
  config.ofm_dir = text_value(object, "ofm_dir").value_or(".");
  for (const auto& [name, file] : child_of(object, "ifm_node_file_map"))
    config.ifm_files[name] = file.data();
  return config;
}

void check_columns(const std::vector<ModelConfig>& configs) {
  for (const ModelConfig& one : configs) {
    for (const ModelConfig& other : configs) {
      if (one.number >= other.number || one.start_column != other.start_column) continue;
      if (one.aie_columns_sharing && other.aie_columns_sharing) continue;
      throw std::runtime_error("models " + std::to_string(one.number) + " and " +
                               std::to_string(other.number) + " both start at column " +
                               std::to_string(one.start_column) +
                               ", and not both have aie_columns_sharing");
    }
  }
}

}  // namespace

std::vector<ModelConfig> read_model_configs(const std::string& path) {
  const Json json = read_json(path);
  std::vector<ModelConfig> configs;
  for (const auto& [key, object] : json) {
    if (!key.empty()) throw std::runtime_error(path + " holds no array of models");
    const std::size_t number = configs.size() + 1;
    try {
      configs.push_back(read_model(object, number));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(path + ", model " + std::to_string(number) + ": " + error.what());
    }
  }
  if (configs.empty()) throw std::runtime_error(path + " lists no model");
  check_columns(configs);
  return configs;
}

}  // namespace samples
