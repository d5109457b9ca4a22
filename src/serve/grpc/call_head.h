// CallHead: what the calls of gRPC state beside their messages. Thread-safe.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace millrace::serve {

struct CallHead {
  std::optional<std::chrono::nanoseconds> time_left;  // until the deadline; nothing: there is none
  std::string authorization;                          // as in HTTP; empty: not stated
};

}  // namespace millrace::serve
