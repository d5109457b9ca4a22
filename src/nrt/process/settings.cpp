// Every invalid value is an error that names its variable, except for log levels. docs/nrt.md
// documents variables and defaults.
#include "nrt/process/settings.h"

#include <fmt/format.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/process/topology.h"
#include "base/settings/duration.h"
#include "base/settings/environment.h"
#include "memory/bank.h"
#include "nrt/process/core_claim.h"
#include "nrt/process/inspect_settings.h"
#include "nrt/process/launcher.h"
#include "nrt/process/log_location.h"
#include "nrt/terms/status.h"
#include "nrt/terms/unit_address.h"
#include "runtime/units/watchdog.h"

namespace millrace::nrt {
namespace {

constexpr const char* kVisibleCores = "NEURON_RT_VISIBLE_CORES";
constexpr const char* kNumCores = "NEURON_RT_NUM_CORES";
constexpr const char* kExecTimeout = "NEURON_RT_EXEC_TIMEOUT";
constexpr const char* kNumericalErrors = "NEURON_RT_NUMERICAL_ERRORS_VERBOSITY";
constexpr const char* kDumpInputs = "NEURON_RT_DBG_DUMP_INPUTS_ON_ERR";
constexpr const char* kLogLevel = "NEURON_RT_LOG_LEVEL";
constexpr const char* kLogLevelOfNrt = "NEURON_RT_LOG_LEVEL_NRT";
constexpr const char* kCoreMemory = "MILLRACE_NRT_MEMORY";
constexpr const char* kConnectTimeout = "MILLRACE_NRT_SENDRECV_TIMEOUT";
constexpr const char* kCollectiveFaults = "MILLRACE_COLLECTIVE_FAULTS";
constexpr const char* kCollectiveTimeout = "MILLRACE_NRT_COLLECTIVE_TIMEOUT";
constexpr const char* kFaultStatus = "MILLRACE_NRT_FAULT_STATUS";
constexpr uint32_t kMostRequests = 65'536;
constexpr uint64_t kLongestTimeout = INT32_MAX;  // 68 years: in effect no limit

struct NamedLevel {
  std::string_view name;
  std::optional<LogLevel> level;
};
constexpr NamedLevel kLevels[] = {
    {"QUIET", std::nullopt},      {"OFF", std::nullopt},           {"NONE", std::nullopt},
    {"FATAL", LogLevel::kError},  {"CRITICAL", LogLevel::kError},  {"ERROR", LogLevel::kError},
    {"WARN", LogLevel::kWarning}, {"WARNING", LogLevel::kWarning}, {"INFO", LogLevel::kInfo},
    {"DEBUG", LogLevel::kDebug},  {"TRACE", LogLevel::kDebug},
};

constexpr std::pair<const char*, NumericalErrors> kNumericalErrorLevels[] = {
    {"none", NumericalErrors::kNone},
    {"critical", NumericalErrors::kCritical},
    {"debug", NumericalErrors::kDebug},
    {"verbose", NumericalErrors::kVerbose},
};

Status wrong_cores(std::string_view text, std::string_view why) {
  return invalid_argument(fmt::format("{} is \"{}\": {}", kVisibleCores, text, why));
}

// Parses a list of cores and ranges. The cores must be consecutive: each part begins with the core
// that follows the previous part.
Result<CoreRange> parse_cores(std::string_view text) {
  const std::optional<std::vector<CoreRange>> parts = parse_core_ranges(text);
  if (!parts)
    return wrong_cores(text, "it takes a core, a range or a list of them: 2, 0-3 or 0,1,2");
  CoreRange cores{parts->front().first, 0};
  for (const CoreRange& part : *parts) {
    if (part.first != cores.first + cores.count)
      return wrong_cores(text, "the cores must be consecutive and ascending");
    cores.count += part.count;
  }
  return cores;
}

Status too_many(const char* name, std::string_view text, uint32_t total) {
  const std::string there =
      total == 1 ? "is 1 logical core" : fmt::format("are {} logical cores", total);
  return invalid_argument(fmt::format(
      "{} is \"{}\", but there {} (MILLRACE_NRT_CORES changes that)", name, text, there));
}

// Returns how many logical cores the variables of visible cores require; 0 for invalid values,
// which visible_cores() reports.
uint64_t wanted_cores() {
  const Result<CoreRange> cores = parse_cores(environment_variable(kVisibleCores));
  if (cores.ok()) return cores->first + cores->count;
  const Result<uint64_t> number = parse_number(environment_variable(kNumCores));
  return number.ok() ? *number : 0;
}

Result<uint64_t> core_memory(uint32_t cores) {
  const std::string_view text = environment_variable(kCoreMemory);
  if (!text.empty()) {
    const Result<uint64_t> size = memory::parse_size(text);
    if (size.ok()) return size;
    return invalid_argument(fmt::format(
        "{} is \"{}\": it takes bytes, or K, M, G or T of them, such as 512M, or unlimited",
        kCoreMemory, text));
  }
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / cores;
}

Result<std::optional<NRT_STATUS>> fault_status() {
  const std::string_view text = environment_variable(kFaultStatus);
  if (text.empty()) return std::optional<NRT_STATUS>();
  const std::optional<NRT_STATUS> status = parse_status(text);
  if (status && *status != NRT_SUCCESS) return status;
  return invalid_argument(
      fmt::format("{} is \"{}\": it takes the name or number of an NRT_STATUS that is a failure",
                  kFaultStatus, text));
}

Result<uint32_t> depth(const char* name, uint32_t otherwise) {
  MILLRACE_ASSIGN_OR_RETURN(const uint64_t depth,
                            number_variable(name, otherwise, 1, kMostRequests));
  return static_cast<uint32_t>(depth);
}

// Reads the port of core 0. Core N uses the port N above it, so the largest value leaves room for
// the ports of all cores. Ports below 1024 are privileged.
Result<uint16_t> send_receive_port(uint16_t otherwise) {
  MILLRACE_ASSIGN_OR_RETURN(
      const uint64_t port,
      number_variable("MILLRACE_NRT_SENDRECV_PORT", otherwise, 1024, 65'536 - kMostCores));
  return static_cast<uint16_t>(port);
}

Result<std::chrono::nanoseconds> duration_variable(const char* name,
                                                   std::chrono::nanoseconds otherwise) {
  const std::string_view text = environment_variable(name);
  if (text.empty()) return otherwise;
  const std::string complaint = read_duration(text, otherwise);
  if (complaint.empty()) return otherwise;
  return invalid_argument(fmt::format("{} is \"{}\": it {}", name, text, complaint));
}

Result<RankSettings> rank_settings(std::chrono::nanoseconds exec_timeout) {
  RankSettings settings;
  settings.place = meeting_place();
  settings.token = environment_variable("MILLRACE_NRT_RANKS_TOKEN");
  settings.interface = environment_variable("MILLRACE_NRT_RANKS_INTERFACE");
  MILLRACE_ASSIGN_OR_RETURN(settings.timeout, duration_variable(kCollectiveTimeout, exec_timeout));
  Result<ranks::CollectiveFaultSettings> faults =
      ranks::CollectiveFaults::parse(environment_variable(kCollectiveFaults));
  if (!faults.ok()) return faults.status().with_context(kCollectiveFaults);
  settings.faults = *faults;
  return settings;
}

Result<NumericalErrors> numerical_errors() {
  const std::string text(environment_variable(kNumericalErrors));
  if (text.empty()) return NumericalErrors::kNone;
  for (const auto& [name, errors] : kNumericalErrorLevels)
    if (strcasecmp(text.c_str(), name) == 0) return errors;
  return invalid_argument(fmt::format("{} is \"{}\": it takes none, critical, debug or verbose",
                                      kNumericalErrors, text));
}

// Returns the status of executions whose inputs are dumped; none for 0, which is NRT_SUCCESS.
Result<std::optional<NRT_STATUS>> status_of_dumps() {
  const std::string_view text = environment_variable(kDumpInputs);
  if (text.empty()) return std::optional<NRT_STATUS>();
  const std::optional<NRT_STATUS> status = parse_status(text);
  if (!status)
    return invalid_argument(fmt::format(
        "{} is \"{}\": it takes the name or number of an NRT_STATUS, or 0", kDumpInputs, text));
  return *status == NRT_SUCCESS ? std::optional<NRT_STATUS>() : status;
}

Result<ExecutionChecks> execution_checks() {
  ExecutionChecks checks;
  MILLRACE_ASSIGN_OR_RETURN(checks.fail_on_nan, switch_variable("NEURON_FAIL_ON_NAN", false));
  MILLRACE_ASSIGN_OR_RETURN(checks.reported, numerical_errors());
  MILLRACE_ASSIGN_OR_RETURN(checks.dump_inputs_on, status_of_dumps());
  return checks;
}

}  // namespace

Result<uint32_t> total_cores() {
  const uint64_t otherwise =
      std::max(static_cast<uint64_t>(std::max(topology().core_budget, 1)), wanted_cores());
  MILLRACE_ASSIGN_OR_RETURN(
      const uint64_t cores,
      number_variable("MILLRACE_NRT_CORES", std::min<uint64_t>(otherwise, kMostCores), 1,
                      kMostCores));
  return static_cast<uint32_t>(cores);
}

Result<CoreRange> visible_cores() {
  MILLRACE_ASSIGN_OR_RETURN(const uint32_t total, total_cores());
  if (const std::string_view text = environment_variable(kVisibleCores); !text.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(const CoreRange cores, parse_cores(text));
    if (cores.first + cores.count > total) return too_many(kVisibleCores, text, total);
    return cores;
  }
  MILLRACE_ASSIGN_OR_RETURN(const uint64_t wanted, number_variable(kNumCores, 0, 0, kMostCores));
  if (wanted > total) return too_many(kNumCores, environment_variable(kNumCores), total);
  return CoreRange{0, wanted == 0 ? total : static_cast<uint32_t>(wanted)};
}

LogLevelChoice log_level() {
  const char* name = kLogLevelOfNrt;
  if (environment_variable(name).empty()) name = kLogLevel;
  std::string text(environment_variable(name));
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  if (text.empty()) return {};
  const auto* const found = std::ranges::find(kLevels, text, &NamedLevel::name);
  if (found == std::end(kLevels)) return {LogLevel::kWarning, name, true};
  return {found->level, nullptr, true};
}

Result<Settings> settings_of_environment() {
  Settings settings;
  MILLRACE_ASSIGN_OR_RETURN(settings.all_cores, total_cores());
  MILLRACE_ASSIGN_OR_RETURN(settings.cores, visible_cores());
  settings.any_cores = environment_variable(kVisibleCores).empty();
  MILLRACE_ASSIGN_OR_RETURN(settings.exclusive_cores, exclusive_core_file());
  MILLRACE_ASSIGN_OR_RETURN(
      const uint64_t timeout,
      number_variable(kExecTimeout, settings.exec_timeout.count(), 0, kLongestTimeout));
  settings.exec_timeout = std::chrono::seconds(timeout == 0 ? kLongestTimeout : timeout);
  MILLRACE_ASSIGN_OR_RETURN(settings.watchdog, runtime::watchdog_in_force(settings.exec_timeout));
  MILLRACE_ASSIGN_OR_RETURN(settings.compute_depth,
                            depth("MILLRACE_NRT_COMPUTE_DEPTH", settings.compute_depth));
  MILLRACE_ASSIGN_OR_RETURN(settings.collectives_depth,
                            depth("MILLRACE_NRT_COLLECTIVES_DEPTH", settings.collectives_depth));
  MILLRACE_ASSIGN_OR_RETURN(settings.transfer_depth,
                            depth("MILLRACE_NRT_TRANSFER_DEPTH", settings.transfer_depth));
  MILLRACE_ASSIGN_OR_RETURN(settings.send_receive_port,
                            send_receive_port(settings.send_receive_port));
  MILLRACE_ASSIGN_OR_RETURN(settings.connect_timeout,
                            duration_variable(kConnectTimeout, settings.connect_timeout));
  MILLRACE_ASSIGN_OR_RETURN(settings.core_memory, core_memory(settings.cores.count));
  MILLRACE_ASSIGN_OR_RETURN(settings.fault_status, fault_status());
  MILLRACE_ASSIGN_OR_RETURN(settings.checks, execution_checks());
  MILLRACE_ASSIGN_OR_RETURN(settings.job_mode, runtime::job_mode_in_force());
  MILLRACE_ASSIGN_OR_RETURN(settings.profile, inspect_settings(settings.cores));
  MILLRACE_ASSIGN_OR_RETURN(settings.ranks, rank_settings(settings.exec_timeout));
  return settings;
}

}  // namespace millrace::nrt
