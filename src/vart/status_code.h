// Converts a status of the core to the code that a caller of the API gets.
#pragma once

#include "base/status.h"
#include "vart/vart_runner_factory.hpp"

namespace millrace::vartml {

// Never returns UNSUPPORTED: programs of release 6.2 look codes up in a table that ends before it.
::vart::StatusCode to_status_code(StatusCode code) noexcept;

}  // namespace millrace::vartml
