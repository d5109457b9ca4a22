// value_or_throw, check_or_throw: failures of the core as the exceptions of VART-X.
#pragma once

#include "base/value_or_throw.h"

namespace millrace::vartx {

using millrace::check_or_throw;
using millrace::value_or_throw;

}  // namespace millrace::vartx
