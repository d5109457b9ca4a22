#include "serve/models/model_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "base/settings/duration.h"
#include "io/file.h"

namespace millrace::serve {
namespace {

using nlohmann::json;

constexpr size_t kMostSettingsBytes = 64 << 10;
constexpr uint32_t kMostBatch = 4096, kMostUnits = 1024, kMostQueueDepth = 65'536;
constexpr uint32_t kMostWarmUp = 100;

// The readers return what is wrong with a value, as the predicate of its key; empty: nothing.

std::string read_count(const json& value, uint32_t least, uint32_t most, uint32_t& to) {
  const bool fits =
      value.is_number_unsigned() && value.get<uint64_t>() >= least && value.get<uint64_t>() <= most;
  if (!fits) return fmt::format("is not a whole number from {} to {}", least, most);
  to = value.get<uint32_t>();
  return {};
}

std::string read_seconds(const json& value, double& to) {
  if (!value.is_string()) return "is not a time in quotes, as \"500us\"";
  std::chrono::nanoseconds time{};
  std::string problem = read_duration(value.get_ref<const std::string&>(), time);
  to = std::chrono::duration<double>(time).count();
  return problem;
}

std::string read_precision(const json& value, ModelSettings& settings) {
  if (value != "fp32" && value != "bf16") return "is neither \"fp32\" nor \"bf16\"";
  settings.precision = value.get<std::string>();
  return {};
}

std::string read_policy(const json& value, ModelSettings& settings) {
  if (value == "refuse")
    settings.when_full = WhenFull::kFail;
  else if (value == "drop-oldest")
    settings.when_full = WhenFull::kDropOldest;
  else if (value == "shed-late")
    settings.when_full = WhenFull::kShedByDeadline;
  else
    return "is not one of \"refuse\", \"drop-oldest\" and \"shed-late\"";
  return {};
}

std::string read_labels(const json& value, ModelSettings& settings) {
  if (!value.is_string() || value.get_ref<const std::string&>().empty())
    return "is not the name of a file";
  settings.labels = value.get<std::string>();
  return {};
}

struct Setting {
  std::string_view key;
  std::string (*read)(const json& value, ModelSettings& settings);
};

const std::array kSettings = std::to_array<Setting>({
    {"precision", read_precision},
    {"batch",
     [](const json& value, ModelSettings& s) { return read_count(value, 1, kMostBatch, s.batch); }},
    {"batch_delay", [](const json& value,
                       ModelSettings& s) { return read_seconds(value, s.batch_delay_seconds); }},
    {"units",
     [](const json& value, ModelSettings& s) { return read_count(value, 0, kMostUnits, s.units); }},
    {"queue_depth",
     [](const json& value, ModelSettings& s) {
       return read_count(value, 1, kMostQueueDepth, s.queue_depth);
     }},
    {"when_full", read_policy},
    {"timeout",
     [](const json& value, ModelSettings& s) { return read_seconds(value, s.request_seconds); }},
    {"labels", read_labels},
    {"warm_up", [](const json& value,
                   ModelSettings& s) { return read_count(value, 0, kMostWarmUp, s.warm_up); }},
});

Status read_setting(const std::string& key, const json& value, ModelSettings& settings) {
  const auto found = std::ranges::find(kSettings, key, &Setting::key);
  if (found == kSettings.end()) {
    std::vector<std::string_view> known;
    known.reserve(kSettings.size());
    for (const Setting& setting : kSettings) known.push_back(setting.key);
    return invalid_argument(
        fmt::format("the key \"{}\" is unknown; known are {}", key, fmt::join(known, ", ")));
  }
  const std::string problem = found->read(value, settings);
  return problem.empty() ? Status() : invalid_argument(fmt::format("\"{}\" {}", key, problem));
}

Status check_size(uintmax_t bytes) {
  if (bytes <= kMostSettingsBytes) return {};
  return invalid_argument(fmt::format("it has more than {} bytes", kMostSettingsBytes));
}

}  // namespace

Status read_settings(std::string_view text, const std::string& folder, ModelSettings& settings) {
  MILLRACE_RETURN_IF_ERROR(check_size(text.size()));
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return invalid_argument("it is no object in JSON");
  for (const auto& [key, value] : object.items())
    MILLRACE_RETURN_IF_ERROR(read_setting(key, value, settings));
  if (object.contains("labels"))
    settings.labels = (std::filesystem::path(folder) / settings.labels).string();
  return {};
}

Result<ModelSettings> settings_of(const ModelFile& file, const Options& options) {
  ModelSettings settings = {.precision = options.precision,
                            .batch = options.batch,
                            .batch_delay_seconds = options.batch_delay_seconds,
                            .units = options.units,
                            .queue_depth = options.queue_depth,
                            .when_full = options.when_full,
                            .request_seconds = options.request_seconds,
                            .labels = options.labels.empty() ? file.labels : options.labels};
  if (file.settings.empty()) return settings;
  std::error_code unknown;  // reading says why
  const uintmax_t size = std::filesystem::file_size(file.settings, unknown);
  if (const Status small = check_size(unknown ? 0 : size); !small.ok())
    return small.with_context(file.settings);
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, io::read_file(file.settings));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string folder = std::filesystem::path(file.settings).parent_path().string();
  const Status status = read_settings(text, folder, settings);
  if (!status.ok()) return status.with_context(file.settings);
  return settings;
}

}  // namespace millrace::serve
