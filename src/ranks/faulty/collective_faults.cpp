// Parses settings (KEY=VALUE, separated by commas) and injects the faults on the thread that calls
// the collective.
#include "ranks/faulty/collective_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <thread>

#include "base/hooks.h"
#include "base/log.h"
#include "base/names.h"
#include "base/settings/duration.h"
#include "base/settings/environment.h"

namespace millrace::ranks {
namespace {

// The reason why a value is invalid; empty if it is valid.
using Complaint = std::string;

Complaint read_number(std::string_view text, uint64_t& number, uint64_t least) {
  const Result<uint64_t> read = parse_number(text);
  if (!read.ok() || *read < least)
    return fmt::format("is not a whole number of at least {}", least);
  number = *read;
  return {};
}

struct Key {
  std::string_view name;
  Complaint (*read)(std::string_view value, CollectiveFaultSettings& settings);
};
constexpr Key kKeys[] = {
    {"delay", [](auto text, auto& to) { return read_number(text, to.delay, 1); }},
    {"delay_for", [](auto text, auto& to) { return read_duration(text, to.delay_for); }},
    {"slow", [](auto text, auto& to) { return read_duration(text, to.slow); }},
    {"drop", [](auto text, auto& to) { return read_number(text, to.drop, 1); }},
    {"corrupt", [](auto text, auto& to) { return read_number(text, to.corrupt, 1); }},
    {"rank", [](auto text, auto& to) { return read_number(text, to.rank.emplace(), 0); }},
};

// Returns the text before the first `separator`, and the text after it.
std::pair<std::string_view, std::string_view> split(std::string_view text, char separator) {
  const auto* const end = std::ranges::find(text, separator);
  return {{text.begin(), end}, {end == text.end() ? end : end + 1, text.end()}};
}

Status read_setting(std::string_view setting, CollectiveFaultSettings& settings) {
  const auto [name, value] = split(setting, '=');
  const auto* const key = std::ranges::find(kKeys, name, &Key::name);
  if (name.size() == setting.size() || key == std::end(kKeys))
    return invalid_argument(fmt::format(
        "\"{}\" is not a setting: expected KEY=VALUE; the keys are delay, delay_for, slow, drop, "
        "corrupt, rank",
        setting));
  const Complaint complaint = key->read(value, settings);
  if (complaint.empty()) return {};
  return invalid_argument(fmt::format("{}: \"{}\" {}", name, value, complaint));
}

void report(uint64_t number, std::string_view kind, std::string_view what) {
  log(LogLevel::kInfo, "ranks", fmt::format("injected: collective {} {}", number, what));
  if (hooks_observed()) emit(HookPoint::kInjected, 0, named_number(name_id(kind), number));
}

void sleep_within(std::chrono::nanoseconds time, const Limit& limit) {
  constexpr std::chrono::milliseconds kStep(20);
  const auto end = std::min(limit.deadline, std::chrono::steady_clock::now() +
                                                std::chrono::ceil<Deadline::duration>(time));
  for (auto now = std::chrono::steady_clock::now(); now < end;
       now = std::chrono::steady_clock::now()) {
    if (limit.stop != nullptr && limit.stop->stop_requested()) return;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(kStep, end - now));
  }
}

}  // namespace

Result<CollectiveFaultSettings> CollectiveFaults::parse(std::string_view text) {
  CollectiveFaultSettings settings;
  while (!text.empty()) {
    const auto [setting, rest] = split(text, ',');
    MILLRACE_RETURN_IF_ERROR(read_setting(setting, settings));
    text = rest;
  }
  return settings;
}

uint64_t CollectiveFaults::begin(const Limit& limit) {
  const uint64_t number = begun_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (settings_.slow.count() != 0) {
    report(number, "slow", "is slow");
    sleep_within(settings_.slow, limit);
  }
  if (number == settings_.delay) {
    report(number, "delay", "begins late");
    sleep_within(settings_.delay_for, limit);
  }
  if (number == settings_.drop) {
    report(number, "drop", "ends the connections of this rank");
    drop_({StatusCode::kIoError,
           fmt::format("injected: this rank dropped out at its collective {}", number)});
  }
  return number;
}

void CollectiveFaults::end(uint64_t number, std::span<std::byte> output) {
  if (number != settings_.corrupt || output.empty()) return;
  report(number, "corrupt", "receives a wrong bit");
  output.front() ^= std::byte{1};
}

}  // namespace millrace::ranks
