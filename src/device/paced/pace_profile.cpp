#include "device/paced/pace_profile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "base/format_status.h"
#include "model/files/mapped_file.h"

namespace millrace::device {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::nanoseconds;

constexpr size_t kMostBytes = size_t{16} << 20;
constexpr uint64_t kMostLanes = 1'024;
constexpr size_t kMostOperators = 100'000;
constexpr const char* kFormat = "millrace-pace";
constexpr double kNsPerUs = 1'000;

template <class... Args>
Status wrong(fmt::format_string<Args...> format, Args&&... args) {
  return format_status(StatusCode::kInvalidArgument, format, std::forward<Args>(args)...);
}

// A misspelt key would change nothing, without a word.
Status check_keys(const Json& object, const char* what,
                  std::initializer_list<std::string_view> known) {
  if (!object.is_object()) return wrong("{} is not an object", what);
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(known, key) == known.end())
      return wrong("{} has an unknown key \"{}\"; known are {}", what, key, fmt::join(known, ", "));
  return {};
}

Result<nanoseconds> microseconds_in(const Json& value, std::string_view key) {
  constexpr auto kMost = static_cast<double>(nanoseconds(kLongestService).count()) / kNsPerUs;
  if (!value.is_number()) return wrong("\"{}\" is not a number of microseconds", key);
  const auto us = value.get<double>();
  if (!(us >= 0 && us <= kMost))
    return wrong("\"{}\" is {} us, and must be between 0 and an hour", key, us);
  return nanoseconds(std::llround(us * kNsPerUs));
}

Result<uint64_t> whole_number_in(const Json& object, const char* key, uint64_t otherwise,
                                 uint64_t most) {
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  if (!found->is_number_unsigned() || found->get<uint64_t>() > most)
    return wrong("\"{}\" is not a whole number from 0 to {}", key, most);
  return found->get<uint64_t>();
}

Result<std::vector<nanoseconds>> list_in(const Json& list, std::string_view key) {
  if (!list.is_array()) return wrong("\"{}\" is not a list of microseconds", key);
  std::vector<nanoseconds> times;
  times.reserve(list.size());
  for (const Json& value : list) {
    MILLRACE_ASSIGN_OR_RETURN(const nanoseconds time, microseconds_in(value, key));
    times.push_back(time);
  }
  return times;
}

Result<OperatorTimes> operators_in(const Json& list) {
  if (!list.is_object()) return wrong("\"operators\" is not an object of nodes and microseconds");
  if (list.empty() || list.size() > kMostOperators)
    return wrong("\"operators\" has {} nodes, and must have 1 to {}", list.size(), kMostOperators);
  OperatorTimes times;
  for (const auto& [node, value] : list.items()) {
    MILLRACE_ASSIGN_OR_RETURN(const nanoseconds time, microseconds_in(value, node));
    times.insert_or_assign(node, time);
  }
  const nanoseconds sum = sum_of(times);
  if (sum == nanoseconds::zero() || sum > kLongestService)
    return wrong("the times of \"operators\" add up to {} us, and must be between 0 and an hour",
                 static_cast<double>(sum.count()) / kNsPerUs);
  return times;
}

// `otherwise` is the mean where none is stated: the sum of the operators; 0 without these.
Result<ServiceTimes> times_in(const Json& model, nanoseconds otherwise) {
  const auto mean = model.find("mean_us"), p99 = model.find("p99_us"),
             quantiles = model.find("quantiles_us");
  const bool has_mean = mean != model.end() || otherwise != nanoseconds::zero();
  if ((mean != model.end() && quantiles != model.end()) || !(has_mean || quantiles != model.end()))
    return wrong(
        "it states either \"mean_us\", with or without \"p99_us\", or \"quantiles_us\", or "
        "\"operators\"");
  if (quantiles != model.end()) {
    if (p99 != model.end()) return wrong("\"p99_us\" belongs to \"mean_us\"");
    MILLRACE_ASSIGN_OR_RETURN(std::vector<nanoseconds> times, list_in(*quantiles, "quantiles_us"));
    return ServiceTimes::from_quantiles(std::move(times));
  }
  nanoseconds mean_time = otherwise;
  if (mean != model.end()) {
    MILLRACE_ASSIGN_OR_RETURN(mean_time, microseconds_in(*mean, "mean_us"));
  }
  if (p99 == model.end()) return ServiceTimes::constant(mean_time);
  MILLRACE_ASSIGN_OR_RETURN(const nanoseconds p99_time, microseconds_in(*p99, "p99_us"));
  return ServiceTimes::from_mean_and_p99(mean_time, p99_time);
}

Status read_model(const std::string& name, const Json& model, PaceProfile& profile) {
  MILLRACE_RETURN_IF_ERROR(
      check_keys(model, "it", {"mean_us", "p99_us", "quantiles_us", "operators"}));
  nanoseconds sum{0};
  if (const auto list = model.find("operators"); list != model.end()) {
    if (name == PaceProfile::kAnyModel)
      return wrong("\"operators\" are those of a model with a name of its own");
    MILLRACE_ASSIGN_OR_RETURN(OperatorTimes operators, operators_in(*list));
    sum = sum_of(operators);
    profile.operators.insert_or_assign(name, std::move(operators));
  }
  MILLRACE_ASSIGN_OR_RETURN(ServiceTimes times, times_in(model, sum));
  profile.models.insert_or_assign(name, std::move(times));
  return {};
}

Status read_models(const Json& models, PaceProfile& profile) {
  if (!models.is_object()) return wrong("\"models\" is not an object with an entry for each model");
  for (const auto& [name, model] : models.items())
    MILLRACE_RETURN_IF_ERROR(
        read_model(name, model, profile).with_context("model \"" + name + "\""));
  return {};
}

Result<TransferPace> transfers_in(const Json& object) {
  MILLRACE_RETURN_IF_ERROR(check_keys(object, "\"transfers\"", {"fixed_us", "bytes_per_second"}));
  TransferPace pace;
  if (const auto fixed = object.find("fixed_us"); fixed != object.end()) {
    MILLRACE_ASSIGN_OR_RETURN(pace.fixed, microseconds_in(*fixed, "fixed_us"));
  }
  const auto bandwidth = object.find("bytes_per_second");
  if (bandwidth == object.end()) return pace;
  if (!bandwidth->is_number() || !(bandwidth->get<double>() >= 1))
    return wrong("\"bytes_per_second\" is not a number of at least 1");
  pace.bytes_per_second = bandwidth->get<double>();
  return pace;
}

Json entry_of(const ServiceTimes& times) {
  if (times.quantiles().empty()) {
    Json entry = {{"mean_us", static_cast<double>(times.mean().count()) / kNsPerUs}};
    if (const std::optional<nanoseconds> p99 = times.stated_p99())
      entry["p99_us"] = static_cast<double>(p99->count()) / kNsPerUs;
    return entry;
  }
  Json quantiles = Json::array();
  for (const nanoseconds time : times.quantiles())
    quantiles.push_back(static_cast<double>(time.count()) / kNsPerUs);
  return {{"quantiles_us", std::move(quantiles)}};
}

}  // namespace

nanoseconds TransferPace::time_of(size_t bytes) const noexcept {
  if (bytes_per_second == 0) return fixed;
  const double ns = static_cast<double>(bytes) / bytes_per_second * 1e9;
  const auto longest = static_cast<double>(nanoseconds(kLongestService).count());
  return fixed + nanoseconds(std::llround(std::min(ns, longest)));
}

const ServiceTimes* PaceProfile::times_of(std::string_view model) const noexcept {
  auto found = models.find(model);
  if (found == models.end()) found = models.find(kAnyModel);
  return found == models.end() ? nullptr : &found->second;
}

const OperatorTimes* PaceProfile::operators_of(std::string_view model) const noexcept {
  const auto found = operators.find(model);
  return found == operators.end() ? nullptr : &found->second;
}

Result<PaceProfile> PaceProfile::parse(std::string_view json) {
  const Json root = Json::parse(json, nullptr, false);
  if (root.is_discarded()) return wrong("it is not valid JSON");
  MILLRACE_RETURN_IF_ERROR(
      check_keys(root, "the profile",
                 {"format", "version", "device", "lanes", "seed", "models", "transfers"}));
  // By reference, since a copy of deeply nested values recurses.
  const auto format = root.find("format"), version = root.find("version");
  if (format == root.end() || *format != kFormat || version == root.end() || *version != 1)
    return wrong("it does not state \"format\": \"{}\" and \"version\": 1", kFormat);
  PaceProfile profile;
  if (const auto device = root.find("device"); device != root.end()) {
    if (!device->is_string()) return wrong("\"device\" is not text");
    profile.device = device->get<std::string>();
  }
  MILLRACE_ASSIGN_OR_RETURN(const uint64_t lanes, whole_number_in(root, "lanes", 0, kMostLanes));
  profile.lanes = static_cast<uint32_t>(lanes);
  MILLRACE_ASSIGN_OR_RETURN(profile.seed, whole_number_in(root, "seed", profile.seed,
                                                          std::numeric_limits<uint64_t>::max()));
  if (const auto models = root.find("models"); models != root.end())
    MILLRACE_RETURN_IF_ERROR(read_models(*models, profile));
  if (const auto transfers = root.find("transfers"); transfers != root.end()) {
    MILLRACE_ASSIGN_OR_RETURN(profile.transfers, transfers_in(*transfers));
  }
  if (profile.models.empty() && !profile.transfers)
    return wrong("it has times neither of models nor of transfers");
  return profile;
}

Result<PaceProfile> PaceProfile::read(const std::string& path) {
  const Result<model::MappedFile> file = model::MappedFile::open(path);
  if (!file.ok()) return file.status().with_context(path);
  const std::span<const std::byte> bytes = file->bytes();
  if (bytes.size() > kMostBytes)
    return wrong("{}: a profile has at most {} bytes", path, kMostBytes);
  Result<PaceProfile> profile = parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!profile.ok()) return profile.status().with_context(path);
  return profile;
}

std::string PaceProfile::text() const {
  Json root = {{"format", kFormat}, {"version", 1}};
  if (!device.empty()) root["device"] = device;
  if (lanes != 0) root["lanes"] = lanes;
  root["seed"] = seed;
  if (transfers)
    root["transfers"] = {{"fixed_us", static_cast<double>(transfers->fixed.count()) / kNsPerUs},
                         {"bytes_per_second", transfers->bytes_per_second}};
  Json entries = Json::object();
  for (const auto& [name, times] : models) entries[name] = entry_of(times);
  for (const auto& [name, times] : operators)
    for (const auto& [node, time] : times)
      entries[name]["operators"][node] = static_cast<double>(time.count()) / kNsPerUs;
  root["models"] = std::move(entries);
  // Bytes of a name that are not UTF-8 are replaced rather than refused.
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace millrace::device
