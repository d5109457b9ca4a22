// Translates a status code of the core to the one that the API returns.
#pragma once

#include "base/status.h"
#include "vart/vart_runner_factory.hpp"

namespace millrace::vartml {

// Never returns UNSUPPORTED, since programs built for release 6.2 index a table with the code, and
// that table ends before it.
::vart::StatusCode to_status_code(StatusCode code) noexcept;

}  // namespace millrace::vartml
