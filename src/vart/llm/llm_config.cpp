#include "vart/llm/llm_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "model/files/mapped_file.h"
#include "vart/value_or_runtime_error.h"

namespace millrace::vartml {
namespace {

using nlohmann::json;
using ::vart::NpuTensorInfo;
using ::vart::TensorDirection;
using ::vart::TensorType;

// Returns the input of past keys or values, whose last dimension but one is the positions; null if
// there is none. Such an input has a dimension for the batch; one of fewer dimensions is a length.
const NpuTensorInfo* past_of(const ::vart::Runner& decode) {
  const auto& inputs = decode.get_tensors_info(TensorDirection::INPUT, TensorType::CPU);
  const auto found = std::ranges::find_if(inputs, [](const NpuTensorInfo& input) {
    return input.name.find("past") != std::string::npos && input.shape.size() >= 3;
  });
  return found == inputs.end() ? nullptr : &*found;
}

const NpuTensorInfo* find(const ::vart::Runner& decode, TensorDirection direction,
                          const std::string& name) {
  const auto& tensors = decode.get_tensors_info(direction, TensorType::CPU);
  const auto found = std::ranges::find(tensors, name, &NpuTensorInfo::name);
  return found == tensors.end() ? nullptr : &*found;
}

int64_t token_in(const std::string& path, const std::string& key, const json& value) {
  if (value.is_number_integer()) return value.get<int64_t>();
  throw std::runtime_error(
      fmt::format("{}: \"{}\" must be an integer or a list of integers", path, key));
}

void read_tokens(const std::string& path, ::vart::LLMConfigInfo* config) {
  const model::MappedFile file = value_or_runtime_error(model::MappedFile::open(path));
  const auto* const text = reinterpret_cast<const char*>(file.bytes().data());
  const json content = json::parse(text, text + file.bytes().size(), nullptr, false);
  if (!content.is_object()) throw std::runtime_error(path + " is not a JSON object");
  const auto tokens_of = [&](const char* key) {
    std::vector<int64_t> tokens;
    const auto found = content.find(key);
    if (found == content.end() || found->is_null()) return tokens;
    if (!found->is_array()) return std::vector{token_in(path, key, *found)};
    for (const json& each : *found) tokens.push_back(token_in(path, key, each));
    return tokens;
  };
  config->eos_token_ids = tokens_of("eos_token_id");
  // Without a padding token, the end token pads, as in Hugging Face Transformers.
  std::vector<int64_t> padding = tokens_of("pad_token_id");
  if (padding.empty()) padding = config->eos_token_ids;
  if (!padding.empty()) config->pad_token_id = padding.front();
}

std::string generation_config_of(const std::string& model_path) {
  const std::filesystem::path path(model_path);
  std::error_code error;
  const bool is_directory = std::filesystem::is_directory(path, error);
  return (is_directory ? path : path.parent_path()) / "generation_config.json";
}

}  // namespace

::vart::LLMConfigInfo llm_config(const ::vart::Runner& decode, const std::string& prefix,
                                 const LlmNames& names, const std::string& model_path) {
  ::vart::LLMConfigInfo config;
  if (find(decode, TensorDirection::INPUT, prefix + names.input_ids) == nullptr)
    throw std::runtime_error(fmt::format(
        "the model has no input \"{}\": option \"input_ids_name\" names that of the tokens",
        names.input_ids));
  const NpuTensorInfo* const logits = find(decode, TensorDirection::OUTPUT, prefix + names.logits);
  if (logits == nullptr || logits->shape.empty())
    throw std::runtime_error(fmt::format(
        "the model has no output \"{}\": option \"logits_name\" names that of the logits",
        names.logits));
  config.vocab_size = logits->shape.back();
  if (const NpuTensorInfo* const past = past_of(decode))
    config.compiled_past_seq_len = past->shape[past->shape.size() - 2];
  const NpuTensorInfo* const mask =
      find(decode, TensorDirection::INPUT, prefix + names.attention_mask);
  config.max_sequence_length =
      mask != nullptr && !mask->shape.empty() ? mask->shape.back() : config.compiled_past_seq_len;
  const std::string path = generation_config_of(model_path);
  std::error_code error;
  if (std::filesystem::exists(path, error)) read_tokens(path, &config);
  return config;
}

}  // namespace millrace::vartml
