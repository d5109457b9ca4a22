// The types of events that a trace knows: the published names, and those of the calls.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace millrace::nrt::trace {

// The place of its name in event_type_names().
using EventType = uint8_t;
inline constexpr EventType kExecRunning = 0;  // "nc_exec_running": a core computes
inline constexpr size_t kEventTypes = 32;
using EventTypes = std::bitset<kEventTypes>;

// Static strings that end in NUL.
std::span<const char* const, kEventTypes> event_type_names() noexcept;
std::optional<EventType> event_type_named(std::string_view name) noexcept;

}  // namespace millrace::nrt::trace
