// NRT_STATUS: its names, and the translation from the core's status codes.
#pragma once

#include <optional>
#include <string_view>

#include "base/status.h"
#include "nrt/nrt_status.h"

namespace millrace::nrt {

// The enumerator's name, static; "NRT_STATUS_UNKNOWN" for a value that has none.
const char* name_of(NRT_STATUS status) noexcept;
// The status with that name or number; none when it does not exist.
std::optional<NRT_STATUS> parse_status(std::string_view text);

NRT_STATUS to_nrt_status(StatusCode code) noexcept;
// The same for a collective of several ranks that has failed.
NRT_STATUS code_of_rank_failure(StatusCode code) noexcept;

}  // namespace millrace::nrt
