// A table of the known options, each with a function that converts its payload and stores it. The
// same table serves the map of a program and the configuration file, whose values may be quoted.
#include "vart/files/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "base/same_text.h"
#include "runtime/columns/columns.h"
#include "runtime/loading/strict_zero_copy.h"
#include "runtime/session.h"
#include "vart/files/config_file.h"
#include "vart/tensors/payload.h"
#include "vart/value_or_runtime_error.h"

namespace millrace::vartml {
namespace {

using ::vart::TensorType;

constexpr int64_t kMostUnsigned = std::numeric_limits<uint32_t>::max();
constexpr const char* kConfigKey = "config_json";

template <class Error = std::runtime_error>
[[noreturn]] void refuse(std::string_view key, const std::string& takes, const std::any& payload) {
  throw Error(fmt::format("option \"{}\" takes {}, not {}", key, takes, describe(payload)));
}

int64_t integer_option(std::string_view key, const std::any& payload, int64_t low, int64_t high) {
  const std::optional<int64_t> number = integer_in(payload);
  if (number && *number >= low && *number <= high) return *number;
  refuse(key, fmt::format("an integer from {} to {}", low, high), payload);
}

bool switch_option(std::string_view key, const std::any& payload) {
  const std::optional<bool> value = switch_in(payload);
  if (!value) refuse(key, "a bool", payload);
  return *value;
}

std::string string_option(std::string_view key, const std::any& payload) {
  std::optional<std::string> text = string_in(payload);
  if (!text) refuse(key, "a string", payload);
  return *std::move(text);
}

// Returns the index of the payload among `choices`. Upper and lower case are equivalent.
template <class Error = std::runtime_error>
size_t choice_option(std::string_view key, const std::any& payload,
                     std::initializer_list<std::string_view> choices) {
  const std::string text = string_option(key, payload);
  const auto found = std::find_if(choices.begin(), choices.end(),
                                  [&](std::string_view choice) { return same_text(choice, text); });
  if (found == choices.end())
    refuse<Error>(key, fmt::format("one of {}", fmt::join(choices, ", ")), payload);
  return found - choices.begin();
}

TensorType tensor_type_option(std::string_view key, const std::any& payload) {
  const size_t choice = choice_option<std::invalid_argument>(key, payload, {"CPU", "HW"});
  return choice == 0 ? TensorType::CPU : TensorType::HW;
}

LogLevel log_level_option(std::string_view key, const std::any& payload) {
  const std::optional<LogLevel> level = parse_log_level(string_option(key, payload));
  if (!level) refuse(key, "one of ERROR, WARNING, INFO, DEBUG", payload);
  return *level;
}

// Reads a start column: any column from which on there are enough columns for a model.
uint32_t start_column_option(std::string_view key, const std::any& payload) {
  const Result<runtime::ColumnMap> map = runtime::ColumnMap::of_process();
  if (!map.ok()) throw std::runtime_error(map.status().message());
  return static_cast<uint32_t>(integer_option(key, payload, 0, map->last_start_column()));
}

std::string unknown(std::string_view key) {
  return fmt::format("option \"{}\" is unknown and ignored", key);
}

// Returns the integer or bool that a string contains; other values are returned unchanged.
std::any unquoted(const std::any& value) {
  const auto* text = std::any_cast<std::string>(&value);
  if (text == nullptr) return value;
  if (*text == "true" || *text == "false") return *text == "true";
  int64_t number = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  return error == std::errc() && stop == end ? std::any(number) : value;
}

enum class Takes { kText, kNumber, kSwitch };

struct KnownOption {
  std::string_view key;
  Takes takes;
  void (*read)(std::string_view key, const std::any& payload, RunnerOptions& options);
};

template <auto Field, int64_t Low, int64_t High>
constexpr KnownOption number_option(std::string_view key) {
  static_assert(High <= kMostUnsigned);
  return {key, Takes::kNumber, [](auto name, auto& payload, auto& options) {
            options.*Field = static_cast<uint32_t>(integer_option(name, payload, Low, High));
          }};
}

template <auto Field>
constexpr KnownOption flag_option(std::string_view key) {
  return {key, Takes::kSwitch, [](auto name, auto& payload, auto& options) {
            options.*Field = switch_option(name, payload);
          }};
}

template <auto Field>
constexpr KnownOption text_option(std::string_view key) {
  return {key, Takes::kText, [](auto name, auto& payload, auto& options) {
            options.*Field = string_option(name, payload);
          }};
}

template <auto Field>
constexpr KnownOption llm_option(std::string_view key) {
  return {key, Takes::kText, [](auto name, auto& payload, auto& options) {
            options.llm.*Field = string_option(name, payload);
          }};
}

constexpr std::array kKnownOptions = {
    KnownOption{"input_tensor_type", Takes::kText,
                [](auto key, auto& payload, auto& options) {
                  options.input_type = tensor_type_option(key, payload);
                }},
    KnownOption{"output_tensor_type", Takes::kText,
                [](auto key, auto& payload, auto& options) {
                  options.output_type = tensor_type_option(key, payload);
                }},
    number_option<&RunnerOptions::max_concurrent_runs, 1, runtime::kMaxConcurrentRuns>(
        "max_concurrent_runs"),
    KnownOption{"callback_order", Takes::kText,
                [](auto key, auto& payload, auto& options) {
                  options.callback_order =
                      choice_option(key, payload, {"submission", "completion"}) == 0
                          ? CallbackOrder::kSubmission
                          : CallbackOrder::kCompletion;
                }},
    number_option<&RunnerOptions::async_threadpool_depth, 1, runtime::kMaxConcurrentRuns>(
        "async_threadpool_depth"),
    KnownOption{"job_mode", Takes::kText,
                [](auto key, auto& payload, auto& options) {
                  const auto& [adaptive, latency, throughput] = runtime::kJobModeNames;
                  options.job_mode = static_cast<runtime::JobMode>(
                      choice_option(key, payload, {adaptive, latency, throughput}));
                }},
    number_option<&RunnerOptions::cma_index, 0, kMostUnsigned>("cma_index"),
    KnownOption{"start_column", Takes::kNumber,
                [](auto key, auto& payload, auto& options) {
                  options.start_column = start_column_option(key, payload);
                }},
    flag_option<&RunnerOptions::aie_columns_sharing>("aie_columns_sharing"),
    flag_option<&RunnerOptions::skip_in_bo_sync>("skip_in_bo_sync"),
    flag_option<&RunnerOptions::skip_out_bo_sync>("skip_out_bo_sync"),
    flag_option<&RunnerOptions::strict_zero_copy>("strict_zero_copy"),
    flag_option<&RunnerOptions::debug>("debug"),
    flag_option<&RunnerOptions::ai_analyzer_profiling>("ai_analyzer_profiling"),
    // A hint for the board's driver about its run objects. It is checked and has no effect here.
    KnownOption{"enable_xrt_run_pool", Takes::kSwitch,
                [](auto key, auto& payload, auto&) { switch_option(key, payload); }},
    KnownOption{"log_level", Takes::kText,
                [](auto key, auto& payload, auto& options) {
                  options.log_level = log_level_option(key, payload);
                  options.log_level_given = true;
                }},
    text_option<&RunnerOptions::config_json>(kConfigKey),
    text_option<&RunnerOptions::cache_path>("cache_path"),
    text_option<&RunnerOptions::shape_profile>("shape_profile"),
    text_option<&RunnerOptions::name>("name"),
    llm_option<&LlmNames::input_ids>("input_ids_name"),
    llm_option<&LlmNames::attention_mask>("attention_mask_name"),
    llm_option<&LlmNames::logits>("logits_name"),
};

// Reads "input_tensor_type.<tensor>" or "output_tensor_type.<tensor>"; false for any other key.
bool read_per_tensor(std::string_view key, const std::any& payload, RunnerOptions& options) {
  constexpr std::string_view kInput = "input_tensor_type.", kOutput = "output_tensor_type.";
  const bool input = key.starts_with(kInput);
  if (!input && !key.starts_with(kOutput)) return false;
  const std::string tensor(key.substr((input ? kInput : kOutput).size()));
  (input ? options.input_types : options.output_types)[tensor] = tensor_type_option(key, payload);
  return true;
}

// Reads one option; false for an unknown key. With `quoted`, numbers and bools may be strings,
// since JSON that was written by boost::property_tree has only strings.
bool read_option(std::string_view key, const std::any& payload, bool quoted,
                 RunnerOptions& options) {
  const auto known = std::find_if(kKnownOptions.begin(), kKnownOptions.end(),
                                  [&](const KnownOption& option) { return option.key == key; });
  if (known == kKnownOptions.end()) return read_per_tensor(key, payload, options);
  const bool unquote = quoted && known->takes != Takes::kText;
  known->read(key, unquote ? unquoted(payload) : payload, options);
  return true;
}

void read_config(const std::string& path, RunnerOptions& options) {
  for (const ConfigEntry& entry : read_config_file(path)) {
    const std::string where = fmt::format("config_json: {}:{}", path, entry.line);
    try {
      if (!read_option(entry.key, entry.value, true, options))
        options.remarks.emplace_back(LogLevel::kDebug,
                                     fmt::format("{}: {}", where, unknown(entry.key)));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("{}: {}", where, error.what()));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("{}: {}", where, error.what()));
    }
  }
}

}  // namespace

RunnerOptions read_options(const OptionMap& map) {
  RunnerOptions options;
  options.strict_zero_copy = value_or_runtime_error(runtime::strict_zero_copy_requested());
  // The file is read first, so that the map takes precedence over it.
  if (const auto config = map.find(kConfigKey); config != map.end()) {
    const std::string path = string_option(kConfigKey, config->second);
    if (!path.empty()) read_config(path, options);
  }
  for (const auto& [key, payload] : map)
    if (!read_option(key, payload, false, options))
      options.remarks.emplace_back(LogLevel::kWarning, unknown(key));
  return options;
}

}  // namespace millrace::vartml
