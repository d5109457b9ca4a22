// Makes an HTML page of a trace, which any browser shows without a network. It holds the trace as
// chrome_trace.h writes it. Thread-safe.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "timeline/text_sink.h"

namespace millrace::timeline {

// Writes the page for the JSON that `trace` writes.
Status write_page(const std::function<Status(const TextSink&)>& trace, const TextSink& sink);
// Returns the page for the JSON of a trace.
std::string page_of(std::string_view trace);
// Returns the JSON in the text of such a page; empty if there is none.
std::string_view trace_in(std::string_view page);

}  // namespace millrace::timeline
