// Converts std::bad_alloc to a Status, in functions that report failures by a Status or must not
// throw.
#pragma once

#include <new>

#include "base/status.h"

namespace millrace {

// Returns the result of `call`, a Status or a Result; kOutOfMemory if it throws std::bad_alloc.
template <class Call>
auto contained(Call&& call, const char* what = "out of memory") -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, what);
  }
}

}  // namespace millrace
