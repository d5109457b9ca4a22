// The types of trace events. Their names are the published ones of the vendor's runtime, and the
// names of the calls of the API.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace millrace::nrt::trace {

// An event type: the index of its name in event_type_names().
using EventType = uint8_t;
// The types of requests that run on units, as opposed to calls.
inline constexpr EventType kExecRunning = 0;  // "nc_exec_running": an execution runs
inline constexpr EventType kReadRunning = 1, kWriteRunning = 2, kCopyRunning = 3;
inline constexpr EventType kCollectiveRunning = 4;
constexpr bool is_run(EventType type) noexcept {
  return type <= kCollectiveRunning;
}
inline constexpr size_t kEventTypes = 66;
using EventTypes = std::bitset<kEventTypes>;

// Returns static, NUL-terminated strings.
std::span<const char* const, kEventTypes> event_type_names() noexcept;
std::optional<EventType> event_type_named(std::string_view name) noexcept;
// Returns the types of what happens on a core: the runs of requests, and steps of the vendor's
// driver there. All others are "software" in the vendor's terms.
EventTypes hardware_event_types() noexcept;

}  // namespace millrace::nrt::trace
