#include "serve/access_log/trace_context.h"

#include <algorithm>
#include <utility>

namespace millrace::serve {
namespace {

// VERSION-TRACE-PARENT-FLAGS, which later versions may continue behind another hyphen.
constexpr size_t kTraceAt = 3, kTraceDigits = 32;
constexpr size_t kParentAt = 36, kParentDigits = 16;
constexpr size_t kFlagsAt = 53, kFlagDigits = 2;
constexpr size_t kLength = 55;

bool is_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// All zeros stand for no id.
bool is_id(std::string_view text) {
  return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

bool has_known_form(std::string_view value) {
  if (value.size() < kLength) return false;
  const std::string_view version = value.substr(0, 2);
  if (!is_hex(version) || version == "ff") return false;
  if (value.size() > kLength && (version == "00" || value[kLength] != '-')) return false;
  return value[kTraceAt - 1] == '-' && value[kParentAt - 1] == '-' && value[kFlagsAt - 1] == '-';
}

bool is_trace_field(std::string_view name) {
  const auto same = [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b;
  };
  return std::ranges::equal(name, kTraceField, same);
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view value) {
  if (!has_known_form(value)) return std::nullopt;
  const std::string_view trace = value.substr(kTraceAt, kTraceDigits);
  const std::string_view parent = value.substr(kParentAt, kParentDigits);
  const std::string_view flags = value.substr(kFlagsAt, kFlagDigits);
  if (!is_id(trace) || !is_id(parent) || !is_hex(flags)) return std::nullopt;
  // The lowest bit of the last digit.
  const bool sampled = std::string_view("13579bdf").find(flags[1]) != std::string_view::npos;
  return TraceContext{std::string(trace), std::string(parent), sampled};
}

std::optional<TraceContext> trace_context_of(const HttpRequest& request) {
  const std::string* value = nullptr;
  for (const auto& [name, own] : request.fields) {
    if (!is_trace_field(name)) continue;
    if (std::exchange(value, &own) != nullptr) return std::nullopt;
  }
  return value == nullptr ? std::nullopt : parse_traceparent(*value);
}

}  // namespace millrace::serve
