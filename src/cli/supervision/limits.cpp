#include "cli/supervision/limits.h"

#include <fmt/format.h>

#include <chrono>

#include "cli/arguments/quantity.h"
#include "cli/supervision/supervised.h"
#include "memory/bank.h"

namespace millrace::cli {
namespace {

Result<std::chrono::nanoseconds> parse_time_limit(const std::string& text) {
  if (text.empty()) return std::chrono::nanoseconds(0);
  const Result<std::chrono::nanoseconds> limit = parse_time(text);
  if (!limit.ok()) return limit.status().with_context("--time-limit");
  return *limit;
}

}  // namespace

Result<uint64_t> parse_memory_limit(const std::string& text) {
  if (text.empty()) return uint64_t{0};
  const Result<uint64_t> limit = memory::parse_size(text);
  if (!limit.ok()) return limit.status().with_context("--memory-limit");
  return *limit == memory::kUnlimited ? 0 : *limit;
}

Status check_limits(const LimitFlags& flags) {
  MILLRACE_RETURN_IF_ERROR(parse_memory_limit(flags.memory).status());
  return parse_time_limit(flags.time).status();
}

Status run_within(const LimitFlags& flags, const std::function<Status(const OutputSink&)>& work,
                  const OutputSink& outputs) {
  Supervision supervision{.sandbox = flags.sandbox};
  MILLRACE_ASSIGN_OR_RETURN(supervision.memory_limit, parse_memory_limit(flags.memory));
  MILLRACE_ASSIGN_OR_RETURN(supervision.time_limit, parse_time_limit(flags.time));
  const bool alone = !supervision.sandbox && supervision.time_limit.count() == 0;
  return alone ? work(outputs) : run_supervised(supervision, work, outputs);
}

}  // namespace millrace::cli
