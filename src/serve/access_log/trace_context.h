// The part of W3C Trace Context that a request brings: the trace that it belongs to. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "serve/http/message.h"

namespace millrace::serve {

inline constexpr std::string_view kTraceField = "traceparent";

struct TraceContext {
  std::string trace_id, parent_id;  // in hexadecimal digits
  bool sampled = false;
};

// Reads the value of a traceparent field, of a later version, too. Nothing if it is malformed.
std::optional<TraceContext> parse_traceparent(std::string_view value);

// Reads the field of a request. Nothing if there is none, more than one, or a malformed one.
std::optional<TraceContext> trace_context_of(const HttpRequest& request);

}  // namespace millrace::serve
