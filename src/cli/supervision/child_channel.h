// The protocol between a supervised child and its parent: the child sends messages through a pipe,
// which carry the names of its output files, the files, and at its end a status. The parent trusts
// nothing: it checks names and limits the bytes that it accepts. Each end is used by one thread.
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

// The child's end: each call sends one message. kIoError if the parent is gone.
Status send_names(int channel, const std::vector<std::string>& names);
Status send_output(int channel, const std::string& name, std::span<const std::byte> bytes);
Status send_status(int channel, const Status& status);

struct ReceiveLimits {
  int64_t deadline_ns = 0;           // now_ns() time; 0: none
  uint64_t most_bytes = UINT64_MAX;  // greatest size of one file
};

// The parent's end: passes outputs on to `outputs` until the child sends a status, which is
// returned, or closes the channel without one, in which case nothing is returned. Text that the
// child prints is passed on from `text` before the message that follows it; null: the child prints
// directly. Errors: those of `outputs`, kCorruptData if the child sends an invalid message, and
// kDeadlineExceeded if the deadline has passed.
Result<std::optional<Status>> receive(int channel, const OutputSink& outputs,
                                      const ReceiveLimits& limits, ChildText* text = nullptr);

}  // namespace millrace::cli
