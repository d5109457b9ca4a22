#include "nrt/process/inspect_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings/environment.h"
#include "nrt/trace/event_type.h"

namespace millrace::nrt {
namespace {

constexpr const char* kFilteredCores = "NEURON_RT_INSPECT_EVENT_FILTER_NC";
constexpr const char* kFilteredTypes = "NEURON_RT_INSPECT_EVENT_FILTER_TYPE";
constexpr const char* kMostEvents = "NEURON_RT_INSPECT_SYS_TRACE_MAX_EVENTS_PER_NC";
constexpr uint64_t kLargestLog = 1'000'000'000;

// Returns the cores, counted from the first visible one, that kFilteredCores names by their numbers
// on the machine; all cores if it is not set.
Result<trace::Cores> cores_to_capture(const CoreRange& visible) {
  const std::string_view text = environment_variable(kFilteredCores);
  if (text.empty()) return trace::Cores().set();
  const std::optional<std::vector<CoreRange>> ranges = parse_core_ranges(text);
  if (!ranges)
    return invalid_argument(
        fmt::format("{} is \"{}\": it takes a core, a range or a list of them: 2, 0-3 or 0,2,4",
                    kFilteredCores, text));
  trace::Cores cores;
  for (const CoreRange& range : *ranges) {
    const uint32_t last = range.first + range.count - 1,
                   last_visible = visible.first + visible.count - 1;
    if (range.first < visible.first || last > last_visible)
      return invalid_argument(fmt::format("{} is \"{}\", but the visible cores are {} to {}",
                                          kFilteredCores, text, visible.first, last_visible));
    for (uint32_t core = range.first; core <= last; ++core) cores.set(core - visible.first);
  }
  return cores;
}

// The event types that a word of kFilteredTypes stands for; none if it is unknown.
trace::EventTypes types_named(std::string_view word) {
  trace::EventTypes types;
  if (word == "hardware") return trace::hardware_event_types();
  if (word == "software") return ~trace::hardware_event_types();
  if (const std::optional<trace::EventType> type = trace::event_type_named(word)) types.set(*type);
  return types;
}

// Selects the types that the words of kFilteredTypes name, without those after a "^". If there are
// only words with "^", they are taken from all types.
void select_types(std::string_view text, trace::EnvironmentProfile& profile) {
  trace::EventTypes included, excluded;
  bool includes = false;
  for (size_t at = 0; at < text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    std::string_view word = text.substr(at, comma - at);
    at = comma + 1;
    const bool excludes = word.starts_with('^');
    if (excludes) word.remove_prefix(1);
    const trace::EventTypes types = types_named(word);
    if (types.none()) profile.unknown_types.emplace_back(word);
    (excludes ? excluded : included) |= types;
    includes = includes || !excludes;
  }
  profile.capture.types = (includes ? included : trace::EventTypes().set()) & ~excluded;
}

}  // namespace

Result<trace::EnvironmentProfile> inspect_settings(const CoreRange& visible) {
  trace::EnvironmentProfile profile;
  MILLRACE_ASSIGN_OR_RETURN(const bool enabled, switch_variable("NEURON_RT_INSPECT_ENABLE", false));
  MILLRACE_ASSIGN_OR_RETURN(const bool system,
                            switch_variable("NEURON_RT_INSPECT_SYSTEM_PROFILE", true));
  if (!enabled || !system) return profile;
  const std::string_view directory = environment_variable("NEURON_RT_INSPECT_OUTPUT_DIR");
  profile.directory = directory.empty() ? "./output" : directory;
  MILLRACE_ASSIGN_OR_RETURN(
      profile.capture.max_events,
      number_variable(kMostEvents, trace::Capture::kUsualEvents, 1, kLargestLog));
  MILLRACE_ASSIGN_OR_RETURN(profile.capture.cores, cores_to_capture(visible));
  if (const std::string_view types = environment_variable(kFilteredTypes); !types.empty())
    select_types(types, profile);
  return profile;
}

}  // namespace millrace::nrt
