// `millrace pace`: makes a profile of the pace of a device from its logs, or from times that the
// user states, for MILLRACE_PACE and `millrace simulate`.
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/format_status.h"
#include "cli/arguments/quantity.h"
#include "cli/commands.h"
#include "cli/pace/recorded_times.h"
#include "cli/print_escaped.h"
#include "cli/report/numbers.h"
#include "device/paced/pace_profile.h"
#include "io/file.h"

namespace millrace::cli {
namespace {

using device::PaceProfile;
using device::ServiceTimes;
using std::chrono::nanoseconds;

// A time that the command line states for a model: NAME=MEAN or NAME=MEAN,P99.
struct StatedTime {
  std::string model;
  ServiceTimes times;
};

Result<ServiceTimes> times_of(std::string_view text) {
  const size_t comma = text.find(',');
  MILLRACE_ASSIGN_OR_RETURN(const nanoseconds mean, parse_time(text.substr(0, comma)));
  if (comma == std::string_view::npos) return ServiceTimes::constant(mean);
  MILLRACE_ASSIGN_OR_RETURN(const nanoseconds p99, parse_time(text.substr(comma + 1)));
  return ServiceTimes::from_mean_and_p99(mean, p99);
}

// Names may contain an equals sign, times may not.
Result<StatedTime> parse_stated(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    return invalid_argument(fmt::format(
        "--time takes NAME=MEAN or NAME=MEAN,P99, as resnet50=2.1ms,3ms, not \"{}\"", text));
  Result<ServiceTimes> times = times_of(std::string_view(text).substr(equals + 1));
  if (!times.ok()) return times.status().with_context("--time " + text);
  return StatedTime{text.substr(0, equals), *std::move(times)};
}

Status add_file(const std::string& path, RecordedLogs& logs) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, io::read_file(path));
  return add_recorded_times({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, logs)
      .with_context(path);
}

// Single times say more than totals: a distribution, and not only its mean.
Result<ServiceTimes> times_of(const RecordedTimes& recorded) {
  if (!recorded.samples.empty()) return ServiceTimes::from_samples(recorded.samples);
  return ServiceTimes::constant(recorded.total / static_cast<int64_t>(recorded.frames));
}

// Returns the mean times of the operators, without those that take none.
device::OperatorTimes operators_of(const RecordedTimes& recorded) {
  device::OperatorTimes times;
  for (const auto& [node, total] : recorded.operators) {
    const nanoseconds mean = total / static_cast<int64_t>(recorded.operator_frames);
    if (mean.count() > 0) times.emplace(node, mean);
  }
  return times;
}

Result<PaceProfile> profile_of(const PaceArguments& arguments) {
  RecordedLogs recorded;
  for (const std::string& path : arguments.logs) MILLRACE_RETURN_IF_ERROR(add_file(path, recorded));
  PaceProfile profile;
  profile.device = arguments.device;
  profile.lanes = arguments.lanes;
  profile.transfers = recorded.transfers.pace();
  for (const auto& [name, times] : recorded.models) {
    Result<ServiceTimes> made = times_of(times);
    if (!made.ok()) return made.status().with_context("model " + name);
    profile.models.insert_or_assign(name, *std::move(made));
    device::OperatorTimes operators = operators_of(times);
    if (!operators.empty()) profile.operators.insert_or_assign(name, std::move(operators));
  }
  for (const std::string& text : arguments.times) {
    MILLRACE_ASSIGN_OR_RETURN(StatedTime stated, parse_stated(text));
    profile.models.insert_or_assign(std::move(stated.model), std::move(stated.times));
  }
  if (!arguments.bandwidth.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(const double bandwidth, parse_number(arguments.bandwidth));
    profile.transfers = device::TransferPace{.bytes_per_second = bandwidth};
  }
  return profile;
}

std::string operators_text(const device::OperatorTimes* operators) {
  if (operators == nullptr) return "";
  return fmt::format(", of that {} in {} operators",
                     time_text(static_cast<double>(device::sum_of(*operators).count())),
                     operators->size());
}

void print_summary(const PaceProfile& profile, const std::string& path) {
  for (const auto& [name, times] : profile.models)
    print_escaped(
        "{:<24} mean {}{}{}\n", name, time_text(static_cast<double>(times.mean().count())),
        times.quantiles().empty()
            ? ""
            : fmt::format(", {} to {}",
                          time_text(static_cast<double>(times.quantiles().front().count())),
                          time_text(static_cast<double>(times.quantiles().back().count()))),
        operators_text(profile.operators_of(name)));
  if (profile.transfers)
    print_escaped("{:<24} {} and {:.4g} bytes per second\n", "transfers",
                  time_text(static_cast<double>(profile.transfers->fixed.count())),
                  profile.transfers->bytes_per_second);
  print_escaped("wrote {}; MILLRACE_PACE={} ./program takes these times\n", path, path);
}

}  // namespace

Status check_pace(const PaceArguments& arguments) {
  if (arguments.logs.empty() && arguments.times.empty() && arguments.bandwidth.empty())
    return invalid_argument("state times: the logs of a device with --from, or --time NAME=MEAN");
  for (const std::string& text : arguments.times)
    MILLRACE_RETURN_IF_ERROR(parse_stated(text).status());
  if (arguments.bandwidth.empty()) return {};
  const Result<double> bandwidth = parse_number(arguments.bandwidth);
  if (!bandwidth.ok() || *bandwidth < 1)
    return invalid_argument("--bandwidth takes a number of bytes per second of at least 1");
  return {};
}

Status run_pace(const PaceArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(const PaceProfile profile, profile_of(arguments));
  const std::string text = profile.text();
  MILLRACE_RETURN_IF_ERROR(io::write_file(arguments.output, std::as_bytes(std::span(text))));
  print_summary(profile, arguments.output);
  return {};
}

}  // namespace millrace::cli
