// Resource limits of a command: the options of the commands that run models.
#pragma once

#include <functional>
#include <string>

#include "base/status.h"
#include "cli/supervision/output_sink.h"

namespace millrace::cli {

// As they stand on the command line; empty: no limit.
struct LimitFlags {
  bool sandbox = false;
  std::string memory;  // "2GiB"
  std::string time;    // "30s"
};

// The bytes of "2GiB", "512M" (factors of 1024) or "1000000"; 0 for an empty text.
Result<uint64_t> parse_memory_limit(const std::string& text);

// Does the work in this process, or in a child where the flags need one. To be called while the
// process has one thread.
Status run_within(const LimitFlags& flags, const std::function<Status(const OutputSink&)>& work,
                  const OutputSink& outputs);

}  // namespace millrace::cli
