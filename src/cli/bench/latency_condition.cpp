#include "cli/bench/latency_condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "cli/arguments/quantity.h"

namespace millrace::cli {
namespace {

struct Statistic {
  std::string_view name;
  double Distribution::*member;
  uint32_t least_queries;
};

constexpr Statistic kStatistics[] = {
    {"median", &Distribution::median, 2}, {"mean", &Distribution::mean, 2},
    {"p90", &Distribution::p90, 10},      {"p95", &Distribution::p95, 20},
    {"p99", &Distribution::p99, 100},     {"p99.9", &Distribution::p99_9, 1000},
    {"max", &Distribution::max, 1}};

}  // namespace

Result<LatencyCondition> parse_condition(const std::string& text) {
  const size_t sign = text.find('<');
  const std::string_view name = std::string_view(text).substr(0, sign);
  const auto* const found = std::ranges::find(kStatistics, name, &Statistic::name);
  if (sign == std::string::npos || found == std::end(kStatistics))
    return invalid_argument(fmt::format(
        "\"{}\" is no condition: write it like p99<20ms, with median, mean, p90, p95, p99, p99.9 "
        "or max",
        text));
  const auto time = parse_time(text.substr(sign + 1));
  if (!time.ok()) return time.status();
  return LatencyCondition{found->member, std::chrono::duration<double, std::milli>(*time).count(),
                          found->least_queries};
}

}  // namespace millrace::cli
