// Resource limits of the commands that run models: --sandbox, --memory-limit and --time-limit.
#pragma once

#include <functional>
#include <string>

#include "base/status.h"
#include "cli/supervision/output_sink.h"

namespace millrace::cli {

// The options as texts of the command line; empty: no limit.
struct LimitFlags {
  bool sandbox = false;
  std::string memory;  // "2GiB"
  std::string time;    // "30s", as parse_time() takes it
};

// Parses a size such as "2GiB", "512M" (both with factors of 1024) or "1000000". Returns bytes; 0,
// no limit, for an empty text.
Result<uint64_t> parse_memory_limit(const std::string& text);

// kInvalidArgument if a limit cannot be parsed.
Status check_limits(const LimitFlags& flags);

// Does the work in this process or, with a sandbox or a time limit, in a child process (see
// supervised.h). `outputs` receives its output files in this process. The work itself has to apply
// the memory limit. To be called while the process has one thread.
Status run_within(const LimitFlags& flags, const std::function<Status(const OutputSink&)>& work,
                  const OutputSink& outputs);

}  // namespace millrace::cli
