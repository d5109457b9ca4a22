// Keeps std::bad_alloc inside, where a function reports failures by its Status or must not throw.
#pragma once

#include <new>

#include "base/status.h"

namespace millrace {

// Returns what `call` returns, a Status or a Result; kOutOfMemory when memory ran out.
template <class Call>
auto contained(Call&& call, const char* what = "no memory for what was asked for")
    -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, what);
  }
}

}  // namespace millrace
