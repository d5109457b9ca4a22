// Keeps std::bad_alloc inside: no call of the native API throws.
#pragma once

#include <new>

#include "base/status.h"

namespace millrace::api {

// What `call` returns, a Status or a Result; kOutOfMemory when memory ran out.
template <class Call>
auto contained(Call&& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, "no memory for what was asked for");
  }
}

}  // namespace millrace::api
