// A supervised child sends messages to its parent through a pipe: the names of its output files,
// the files, and at its end a status. The parent trusts none of it: it checks names, and counts the
// bytes that arrive.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"
#include "cli/supervision/child_text.h"
#include "cli/supervision/output_sink.h"

namespace millrace::cli {

// The child's end. kIoError when the parent is gone.
Status send_names(int channel, const std::vector<std::string>& names);
Status send_output(int channel, const std::string& name, std::span<const std::byte> bytes);
Status send_status(int channel, const Status& status);

struct ReceiveLimits {
  int64_t deadline_ns = 0;           // clock time; 0: never
  uint64_t most_bytes = UINT64_MAX;  // limit for one file
};

// The parent's end passes outputs on until the child has sent a status, which is returned, or has
// closed the channel without one (nothing is returned). Text that the child prints is passed on
// from `text` before the message that follows it; null: the child prints directly. Errors: those of
// `outputs`, kCorruptData when the child sends an invalid message, and kDeadlineExceeded when the
// deadline is past.
Result<std::optional<Status>> receive(int channel, const OutputSink& outputs,
                                      const ReceiveLimits& limits, ChildText* text = nullptr);

}  // namespace millrace::cli
