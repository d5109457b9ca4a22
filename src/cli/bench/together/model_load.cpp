#include "cli/bench/together/model_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <vector>

#include "cli/arguments/quantity.h"
#include "cli/arguments/suggestion.h"

namespace millrace::cli {
namespace {

constexpr double kLeastRate = 0.001, kMostRate = 1e9;
constexpr uint64_t kMostInFlight = 1024, kHighestPriority = 1000;

Result<uint32_t> count_within(const std::string& text, uint64_t least, uint64_t most) {
  MILLRACE_ASSIGN_OR_RETURN(const uint64_t count, parse_count(text));
  if (count < least || count > most)
    return invalid_argument(fmt::format("{} is not in the range {} to {}", count, least, most));
  return static_cast<uint32_t>(count);
}

Result<double> rate_in(const std::string& text) {
  MILLRACE_ASSIGN_OR_RETURN(const double rate, parse_number(text));
  if (rate < kLeastRate || rate > kMostRate)
    return invalid_argument(fmt::format("{} is no rate of arrivals per second", text));
  return rate;
}

Status set_option(const std::string& key, const std::string& value, ModelLoad& load) {
  if (key == "rate") {
    MILLRACE_ASSIGN_OR_RETURN(load.per_second, rate_in(value));
  } else if (key == "priority") {
    MILLRACE_ASSIGN_OR_RETURN(load.priority, count_within(value, 0, kHighestPriority));
  } else if (key == "in-flight") {
    MILLRACE_ASSIGN_OR_RETURN(load.in_flight, count_within(value, 1, kMostInFlight));
  } else {
    return invalid_argument(
        fmt::format("there is no option {}{}; write it like FILE:rate=20,priority=1,in-flight=4",
                    key, did_you_mean(key, {"rate", "priority", "in-flight"})));
  }
  return {};
}

Status set_options(const std::string& options, ModelLoad& load) {
  for (size_t begin = 0; begin <= options.size();) {
    const size_t end = std::min(options.find(',', begin), options.size());
    const std::string option = options.substr(begin, end - begin);
    const size_t separator = std::min(option.find('='), option.size());
    const std::string value = option.substr(std::min(separator + 1, option.size()));
    MILLRACE_RETURN_IF_ERROR(set_option(option.substr(0, separator), value, load));
    begin = end + 1;
  }
  return {};
}

}  // namespace

Result<ModelLoad> parse_model_load(const std::string& text) {
  static const std::regex kWithOptions("(.+):([a-z-]+=[^:/]*)");
  ModelLoad load{.model = text};
  std::smatch match;
  if (!std::regex_match(text, match, kWithOptions)) return load;
  load.model = match[1];
  const Status set = set_options(match[2], load);
  if (!set.ok()) return set.with_context("--model " + text);
  return load;
}

}  // namespace millrace::cli
