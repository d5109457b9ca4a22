// NRT_STATUS: the names of its values, and the translation of the core's status codes to them.
#pragma once

#include <optional>
#include <string_view>

#include "base/status.h"
#include "nrt/nrt_status.h"

namespace millrace::nrt {

// Returns the name of the enumerator, a static string; "NRT_STATUS_UNKNOWN" for an unknown value.
const char* name_of(NRT_STATUS status) noexcept;
// Returns the status with that name or decimal number; nullopt when there is none.
std::optional<NRT_STATUS> parse_status(std::string_view text);

// Translates a status code of the core.
NRT_STATUS to_nrt_status(StatusCode code) noexcept;
// Translates the code of a failure between ranks: of a rendezvous or a collective.
NRT_STATUS code_of_rank_failure(StatusCode code) noexcept;

}  // namespace millrace::nrt
