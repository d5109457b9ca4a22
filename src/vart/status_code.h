// What a caller of the API gets for a status of the core.
#pragma once

#include "base/status.h"
#include "vart/vart_runner_factory.hpp"

namespace millrace::vartml {

// Never UNSUPPORTED: programs of release 6.2 look codes up in a table that ends before it.
::vart::StatusCode to_status_code(StatusCode code) noexcept;

}  // namespace millrace::vartml
