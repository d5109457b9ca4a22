#include "base/logging/log_line.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/same_text.h"

namespace millrace {
namespace {

struct NamedFormat {
  std::string_view name;
  LogFormat format;
};
constexpr NamedFormat kFormats[] = {
    {"plain", LogFormat::kPlain}, {"full", LogFormat::kFull}, {"json", LogFormat::kJson}};

// Returns the time of day in UTC as ISO 8601 has it, in microseconds.
std::string now() {
  using std::chrono::microseconds;
  const auto since =
      std::chrono::duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z", fmt::gmtime(seconds.count()),
                     (since - seconds).count());
}

std::string json_line(LogLevel level, std::string_view component, std::string_view text) {
  nlohmann::ordered_json line;
  line["time"] = now();
  line["process"] = ::getpid();
  line["thread"] = ::gettid();
  line["level"] = to_string(level);
  line["component"] = component;
  line["message"] = text;
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::optional<LogFormat> parse_log_format(std::string_view text) {
  for (const NamedFormat& known : kFormats)
    if (same_text(known.name, text)) return known.format;
  return std::nullopt;
}

std::string log_line(LogFormat format, LogLevel level, std::string_view component,
                     std::string_view text) {
  if (format == LogFormat::kJson) return json_line(level, component, text);
  const std::string plain = fmt::format("[{}] {}: {}\n", to_string(level), component, text);
  return format == LogFormat::kPlain ? plain : fmt::format("{} {} {}", now(), ::gettid(), plain);
}

}  // namespace millrace
