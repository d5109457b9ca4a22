// The functions of XRT about the runtime itself: settings, log, devices, version and errors.
#include <fmt/format.h>

#include "base/log.h"
#include "xrt/experimental/xrt_error.h"
#include "xrt/experimental/xrt_ini.h"
#include "xrt/experimental/xrt_message.h"
#include "xrt/experimental/xrt_system.h"
#include "xrt/experimental/xrt_version.h"

namespace xrt {
namespace {

constexpr unsigned int kMajor = 2;
constexpr unsigned int kMinor = 19;
constexpr unsigned int kPatch = 0;

millrace::LogLevel log_level(message::level level) {
  if (level <= message::level::error) return millrace::LogLevel::kError;
  if (level == message::level::warning) return millrace::LogLevel::kWarning;
  return level == message::level::debug ? millrace::LogLevel::kDebug : millrace::LogLevel::kInfo;
}

}  // namespace

void ini::set(const std::string& key, const std::string& value) {
  millrace::log_format(millrace::LogLevel::kDebug, "xrt", "xrt::ini::set: {} = {} has no effect",
                       key, value);
}

void message::log(level level, const std::string& tag, const std::string& text) {
  millrace::print_errors_by_default();
  millrace::log(log_level(level), tag, text);
}

unsigned int system::enumerate_devices() {
  return 1;
}

unsigned int version::major() {
  return kMajor;
}
unsigned int version::minor() {
  return kMinor;
}
unsigned int version::patch() {
  return kPatch;
}
unsigned int version::code() {
  return (kMajor << 16) + kMinor;
}
unsigned int version::build() {
  return 0;
}
unsigned int version::feature() {
  return 0;
}

std::string error::to_string() const {
  if (code_ == 0) return "no error";
  return fmt::format("error 0x{:x} at {}", code_, timestamp_);
}

}  // namespace xrt
