// NRT_STATUS: names, and what the core's status codes are at this face.
#pragma once

#include <optional>
#include <string_view>

#include "base/status.h"
#include "nrt/nrt_status.h"

namespace millrace::nrt {

// The enumerator's name, static; "NRT_STATUS_UNKNOWN" for a value that has none.
const char* name_of(NRT_STATUS status) noexcept;
// From its name or its number; none when there is no such status.
std::optional<NRT_STATUS> parse_status(std::string_view text);

NRT_STATUS to_nrt_status(StatusCode code) noexcept;

}  // namespace millrace::nrt
