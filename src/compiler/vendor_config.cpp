#include "compiler/vendor_config.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "compiler/compiler.h"
#include "model/files/mapped_file.h"

namespace millrace::compiler {
namespace {

using Json = nlohmann::json;

constexpr const char* kSection = "vaiml_config";

Status wrong_value(const std::string& key, std::string_view takes) {
  return invalid_argument(fmt::format("\"{}\" takes {}", key, takes));
}

// Several passes may state the same setting, but not with different values.
template <class Value>
Status set_once(const std::string& key, Value value, std::optional<Value>& setting) {
  if (setting.value_or(value) != value)
    return invalid_argument(fmt::format("\"{}\" is given twice, with different values", key));
  setting = value;
  return {};
}

Status read_entry(const std::string& key, const Json& value, VendorConfig& config) {
  if (key == "dp_size" || key == "tp_size") {
    if (!value.is_number_unsigned() || value < 1u || value > kMostFrames)
      return wrong_value(key, fmt::format("a number from 1 to {}", kMostFrames));
    return set_once(key, value.get<uint32_t>(),
                    key == "dp_size" ? config.batch_size : config.tensor_parallel);
  }
  if (key == "enable_f32_to_bf16_conversion") {
    if (!value.is_boolean()) return wrong_value(key, "true or false");
    return set_once(key, value.get<bool>() ? graph::Precision::kBf16 : graph::Precision::kFp32,
                    config.precision);
  }
  config.ignored.insert(key);
  return {};
}

// Returns whether the object has such a section.
Result<bool> read_section(const Json& object, VendorConfig& config) {
  if (!object.is_object() || !object.contains(kSection)) return false;
  const Json& section = object[kSection];
  if (!section.is_object()) return wrong_value(kSection, "an object");
  for (const auto& [key, value] : section.items())
    MILLRACE_RETURN_IF_ERROR(read_entry(key, value, config));
  return true;
}

Result<VendorConfig> read_text(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return invalid_argument("it is not a JSON object");
  VendorConfig config;
  MILLRACE_ASSIGN_OR_RETURN(bool found, read_section(json, config));
  for (const Json& pass : json.value("passes", Json::array())) {
    MILLRACE_ASSIGN_OR_RETURN(const bool in_pass, read_section(pass, config));
    found = found || in_pass;
  }
  if (!found) return invalid_argument(fmt::format("it has no object \"{}\"", kSection));
  if (config.columns() > graph::kMostColumnsOfAModel)
    return invalid_argument(
        fmt::format("\"dp_size\" times \"tp_size\" makes {} columns, but a model can occupy {}",
                    config.columns(), graph::kMostColumnsOfAModel));
  return config;
}

}  // namespace

Result<VendorConfig> read_vendor_config(const std::string& path) {
  const Result<model::MappedFile> file = model::MappedFile::open(path);
  if (!file.ok()) return file.status().with_context(path);
  const auto bytes = file->bytes();
  Result<VendorConfig> config =
      read_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!config.ok()) return config.status().with_context(path);
  return config;
}

}  // namespace millrace::compiler
