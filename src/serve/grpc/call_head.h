// CallHead: what the calls of gRPC state beside their messages. Thread-safe.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::serve {

struct CallHead {
  std::optional<std::chrono::nanoseconds> time_left;  // until the deadline; nothing: there is none
  std::string authorization;                          // as in HTTP; empty: not stated
  std::string traceparent;                            // as in HTTP; empty: none, or several
  std::string remote;                                 // address and port of the client
  std::string_view name;                              // of the call
};

}  // namespace millrace::serve
