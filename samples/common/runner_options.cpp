#include "common/runner_options.hpp"

#include <filesystem>
#include <limits>
#include <stdexcept>

namespace samples {
namespace {

vart::TensorType tensor_type_in(const Json& options, const std::string& key) {
  const std::string text = text_value(options, key).value_or("HW");
  if (text == "HW") return vart::TensorType::HW;
  if (text == "CPU") return vart::TensorType::CPU;
  throw std::runtime_error("\"" + key + "\" takes HW or CPU, not \"" + text + "\"");
}

}  // namespace

RunnerOptions read_runner_options(const Json& json, const std::string& log_level) {
  constexpr int64_t kMostUnsigned = std::numeric_limits<unsigned>::max();
  constexpr int64_t kMostInt = std::numeric_limits<int>::max();
  RunnerOptions options;
  options.input_type = tensor_type_in(json, "input-tensor-type");
  options.output_type = tensor_type_in(json, "output-tensor-type");
  auto& values = options.values;
  values["input_tensor_type"] = std::string(vart::to_string(options.input_type));
  values["output_tensor_type"] = std::string(vart::to_string(options.output_type));
  values["log_level"] = text_value(json, "log-level").value_or(log_level);
  values["aie_columns_sharing"] = bool_value(json, "aie-columns-sharing").value_or(true);
  values["ai_analyzer_profiling"] = bool_value(json, "ai-analyzer-profiling").value_or(false);
  if (const auto column = integer_value(json, "start-column", 0, kMostUnsigned))
    values["start_column"] = static_cast<unsigned>(*column);
  if (const auto bank = integer_value(json, "cma-index", 0, kMostInt))
    values["cma_index"] = static_cast<int>(*bank);
  if (const auto file = text_value(json, "config-file")) {
    if (!std::filesystem::exists(*file))
      throw std::runtime_error("the config-file " + *file + " does not exist");
    values["config_json"] = *file;
  }
  return options;
}

}  // namespace samples
