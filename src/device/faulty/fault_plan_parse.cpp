// Parses the text form of a fault plan: KEY=VALUE settings, separated by commas.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>

#include "base/settings/duration.h"
#include "device/faulty/fault_plan.h"

namespace millrace::device {
namespace {

// The reason why a value is invalid, for example "is not a number"; empty if it is valid.
using Complaint = std::string;

// Parses the whole of `text` as a number.
template <class T>
bool read_number(std::string_view text, T& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

Complaint read_count(std::string_view text, uint64_t& count) {
  if (read_number(text, count) && count > 0) return {};
  return "is not a whole number of at least 1";
}

Complaint read_seed(std::string_view text, uint64_t& seed) {
  return read_number(text, seed) ? Complaint() : "is not a seed: a whole number, at least 0";
}

Complaint read_rate(std::string_view text, double& rate) {
  if (read_number(text, rate) && rate >= 0 && rate <= 1) return {};
  return "is not a probability: a number from 0 to 1";
}

// The codes with which a device may end its work. The others come from a queue or a call, so a
// caller would misinterpret them.
constexpr std::array kFailures = {
    StatusCode::kDeviceFailed,     StatusCode::kInternal,    StatusCode::kOutOfMemory,
    StatusCode::kInvalidArgument,  StatusCode::kUnsupported, StatusCode::kCorruptData,
    StatusCode::kNotFound,         StatusCode::kIoError,     StatusCode::kHung,
    StatusCode::kDeadlineExceeded,
};

Complaint read_failure(std::string_view text, Status& failure) {
  std::string names;
  for (const StatusCode code : kFailures) {
    if (text == to_string(code)) {
      failure = Status(code, injected_failure().message());
      return {};
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(code));
  }
  return "is not the status of a failure; these are " + names;
}

struct Key {
  std::string_view name;
  Complaint (*read)(std::string_view value, FaultSettings& settings);
};
constexpr std::array<Key, 11> kKeys = {{
    {"fail", [](auto text, auto& to) { return read_count(text, to.fail); }},
    {"fail_every", [](auto text, auto& to) { return read_count(text, to.fail_every); }},
    {"status", [](auto text, auto& to) { return read_failure(text, to.rates.failure); }},
    {"hang", [](auto text, auto& to) { return read_count(text, to.hang); }},
    {"hang_for", [](auto text, auto& to) { return read_duration(text, to.rates.hang_for); }},
    {"slow", [](auto text, auto& to) { return read_duration(text, to.slow); }},
    {"slow_for", [](auto text, auto& to) { return read_duration(text, to.rates.slow_for); }},
    {"seed", [](auto text, auto& to) { return read_seed(text, to.seed); }},
    {"fail_rate", [](auto text, auto& to) { return read_rate(text, to.rates.fail); }},
    {"hang_rate", [](auto text, auto& to) { return read_rate(text, to.rates.hang); }},
    {"slow_rate", [](auto text, auto& to) { return read_rate(text, to.rates.slow); }},
}};

std::string key_names() {
  std::string names;
  for (const Key& key : kKeys) names += fmt::format("{}{}", names.empty() ? "" : ", ", key.name);
  return names;
}

Status read_setting(std::string_view setting, FaultSettings& settings,
                    std::set<std::string_view>& seen) {
  const size_t equals = setting.find('=');
  const std::string_view name = setting.substr(0, equals);
  if (equals == std::string_view::npos)
    return invalid_argument(fmt::format("\"{}\" is not a setting: expected KEY=VALUE", setting));
  const auto* const key = std::ranges::find(kKeys, name, &Key::name);
  if (key == kKeys.end())
    return invalid_argument(
        fmt::format("there is no key \"{}\"; the keys are {}", name, key_names()));
  if (!seen.insert(name).second) return invalid_argument(fmt::format("\"{}\" is set twice", name));
  const std::string_view value = setting.substr(equals + 1);
  const Complaint complaint = key->read(value, settings);
  if (complaint.empty()) return {};
  return invalid_argument(fmt::format("{}: \"{}\" {}", name, value, complaint));
}

}  // namespace

Result<FaultSettings> FaultPlan::parse(std::string_view text) {
  FaultSettings settings;
  std::set<std::string_view> seen;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    MILLRACE_RETURN_IF_ERROR(read_setting(text.substr(0, comma), settings, seen));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return settings;
}

}  // namespace millrace::device
