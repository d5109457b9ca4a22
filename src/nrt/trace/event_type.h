// The types of events that a trace knows: the published names, and those of the calls.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace millrace::nrt::trace {

// The index of its name in event_type_names().
using EventType = uint8_t;
// Types of what units run, as opposed to the calls that programs make.
inline constexpr EventType kExecRunning = 0;  // "nc_exec_running": a core computes
inline constexpr EventType kReadRunning = 1, kWriteRunning = 2, kCopyRunning = 3;
inline constexpr EventType kCollectiveRunning = 4;
constexpr bool is_run(EventType type) noexcept {
  return type <= kCollectiveRunning;
}
inline constexpr size_t kEventTypes = 66;
using EventTypes = std::bitset<kEventTypes>;

// Static strings that end in NUL.
std::span<const char* const, kEventTypes> event_type_names() noexcept;
std::optional<EventType> event_type_named(std::string_view name) noexcept;

}  // namespace millrace::nrt::trace
