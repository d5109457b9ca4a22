#include "nrt/process/log_setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/settings/environment.h"
#include "base/settings/variables.h"
#include "device/faulty/faulty_device.h"
#include "memory/bank.h"
#include "nrt/process/log_location.h"
#include "nrt/process/vendor_variables.h"

namespace millrace::nrt {
namespace {

std::atomic<bool> is_set_up{false};

void warn_of_unknown_level(const char* name) {
  static std::atomic<bool> warned{false};
  if (warned.exchange(true)) return;
  log(LogLevel::kWarning, "nrt",
      fmt::format("{} is \"{}\", but must be QUIET, ERROR, WARNING, INFO, DEBUG or TRACE: using "
                  "WARNING",
                  name, environment_variable(name)));
}

void warn_of_location(const std::string& complaint) {
  static std::atomic<bool> warned{false};
  if (!warned.exchange(true)) log(LogLevel::kWarning, "nrt", complaint);
}

void warn_of_unknown_variables() {
  if (const std::string warning = warning_of_unknown_variables(); !warning.empty())
    log(LogLevel::kWarning, "nrt", warning);
}

std::string cores_text(const Settings& settings, size_t lanes) {
  const auto [first, count] = settings.cores;
  return fmt::format("logical cores {} to {} of {}{}", first, first + count - 1, settings.all_cores,
                     count > lanes ? ", which share the lanes" : "");
}

std::string size_text(uint64_t bytes) {
  if (bytes == memory::kUnlimited) return "without limit";
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB"};
  auto size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < std::size(kUnits); ++unit) size /= 1024;
  return fmt::format("{:.{}f} {}", size, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string faults_in_force() {
  std::string text;
  for (const char* const name : {device::kFaultsVariable, device::kTransferFaultsVariable}) {
    if (!environment_variable(name).empty())
      text += fmt::format("; {}={}", name, environment_variable(name));
  }
  return text;
}

}  // namespace

void set_up_log() {
  const LogLevelChoice choice = log_level();
  LogLocation location = log_location();
  set_default_log(
      choice.level, std::move(location.sink),
      choice.asked_for || location.asked_for ? ErrorLines::kAll : ErrorLines::kOncePerReason);
  is_set_up.store(true, std::memory_order_release);
  if (!location.complaint.empty()) warn_of_location(location.complaint);
  if (choice.wrong_variable != nullptr) warn_of_unknown_level(choice.wrong_variable);
}

void set_up_log_once() {
  if (!is_set_up.load(std::memory_order_acquire)) set_up_log();
}

void log_start(const Settings& settings, device::Device& device) {
  warn_of_unknown_variables();
  warn_of_vendor_variables();
  if (!log_enabled(LogLevel::kInfo)) return;
  const auto watchdog = std::chrono::duration_cast<std::chrono::milliseconds>(settings.watchdog);
  log(LogLevel::kInfo, "nrt",
      fmt::format("nrt_init: Millrace {}, device {}, lanes {}, {}, memory of each {}, requests at "
                  "most {} (COMPUTE), {} (transfers), {} (COLLECTIVES), execution timeout {} s, "
                  "watchdog {} ms{}",
                  MILLRACE_VERSION, device.name(), device.lanes().count(),
                  cores_text(settings, device.lanes().count()), size_text(settings.core_memory),
                  settings.compute_depth, settings.transfer_depth, settings.collectives_depth,
                  settings.exec_timeout.count(), watchdog.count(), faults_in_force()));
  if (const std::vector<std::string> ignored = meaningless_variables(); !ignored.empty())
    log(LogLevel::kInfo, "nrt",
        fmt::format("set, but without effect here: {}", fmt::join(ignored, ", ")));
}

}  // namespace millrace::nrt
