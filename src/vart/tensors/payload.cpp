#include "vart/tensors/payload.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

namespace millrace::vartml {
namespace {

template <class... Integers, class Visit>
bool visit_any_of(const std::any& payload, Visit&& visit) {
  const auto visit_one = [&](const auto* value) {
    if (value != nullptr) visit(+*value);
    return value != nullptr;
  };
  return (visit_one(std::any_cast<Integers>(&payload)) || ...);
}

// Calls visit(number), after integral promotion, if the payload is an integer; otherwise false.
template <class Visit>
bool visit_integer(const std::any& payload, Visit&& visit) {
  return visit_any_of<int, unsigned, long, unsigned long, long long, unsigned long long, short,
                      unsigned short, signed char, unsigned char, char>(payload,
                                                                        std::forward<Visit>(visit));
}

std::string readable_name(const std::type_info& type) {
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &failed), &std::free);
  return failed == 0 ? name.get() : type.name();
}

}  // namespace

std::optional<int64_t> integer_in(const std::any& payload) {
  std::optional<int64_t> number;
  visit_integer(payload, [&](auto value) {
    constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
    number = std::in_range<int64_t>(value) ? static_cast<int64_t>(value) : kLargest;
  });
  return number;
}

std::optional<bool> switch_in(const std::any& payload) {
  if (const bool* value = std::any_cast<bool>(&payload)) return *value;
  if (const std::optional<int64_t> number = integer_in(payload)) return *number != 0;
  return std::nullopt;
}

std::optional<std::string> string_in(const std::any& payload) {
  if (const auto* text = std::any_cast<std::string>(&payload)) return *text;
  if (const auto* text = std::any_cast<std::string_view>(&payload)) return std::string(*text);
  if (const auto* text = std::any_cast<const char*>(&payload))
    return *text == nullptr ? std::nullopt : std::optional<std::string>(*text);
  if (const auto* text = std::any_cast<char*>(&payload))
    return *text == nullptr ? std::nullopt : std::optional<std::string>(*text);
  return std::nullopt;
}

std::string describe(const std::any& payload) {
  if (!payload.has_value()) return "an empty payload";
  if (const bool* value = std::any_cast<bool>(&payload)) return *value ? "true" : "false";
  std::string integer;
  if (visit_integer(payload, [&](auto value) { integer = std::to_string(value); })) return integer;
  if (const std::optional<std::string> text = string_in(payload))
    return fmt::format("\"{}\"", *text);
  if (const double* number = std::any_cast<double>(&payload)) return fmt::format("{}", *number);
  return "a payload of type " + readable_name(payload.type());
}

}  // namespace millrace::vartml
