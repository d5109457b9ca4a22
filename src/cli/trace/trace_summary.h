// TraceSummary: what a trace file (timeline/chrome_trace.h) says about the jobs of a program.
// Thread-safe, as values are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace millrace::cli {

struct TraceSummary {
  uint64_t jobs = 0;     // that have run
  uint64_t failed = 0;   // jobs that ended with another status than OK
  uint64_t lanes = 0;    // on which jobs have run
  uint64_t dropped = 0;  // events that the trace no longer has
  std::string longest;   // the job with the longest run; empty if there is none
  double longest_us = 0;
  std::string first_failed, first_status;  // of the failed jobs the one that ended first
  uint64_t faults = 0;                     // that were injected
};

// Reads the text of a trace file. kInvalidArgument for another text.
Result<TraceSummary> summary_of_trace(std::string_view text);

// Returns the summary as a line, such as "8 jobs on 2 lanes, the longest 3:4 with 1.234 ms".
std::string summary_text(const TraceSummary& summary);

}  // namespace millrace::cli
