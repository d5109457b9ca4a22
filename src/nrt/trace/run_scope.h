// RunScope: records the run of a request on a unit as an event, from its constructor to its
// destructor.
#pragma once

#include <cstddef>
#include <optional>

#include "nrt/trace/tap.h"

namespace millrace::nrt::trace {

// An object exists on the thread that runs the request, during the whole run.
class RunScope {
 public:
  // `scheduled_ns`: as Span::scheduled_ns.
  RunScope(EventType type, nrta_seq_t sequence, int64_t scheduled_ns) noexcept {
    if (listening()) [[unlikely]]
      begin(type, sequence, scheduled_ns);
  }
  ~RunScope() {
    if (span_) [[unlikely]]
      end();
  }
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;

  // Returns the event so far; null when there was no listener at construction.
  Span* span() noexcept { return span_ ? &*span_ : nullptr; }
  void add_bytes(size_t bytes) noexcept {
    if (span_) [[unlikely]]
      span_->bytes += bytes;
  }
  void ended_with(NRT_STATUS status) noexcept {
    if (span_) [[unlikely]]
      span_->status = status;
  }

 private:
  void begin(EventType type, nrta_seq_t sequence, int64_t scheduled_ns) noexcept;
  void end() noexcept;

  std::optional<Span> span_;
};

}  // namespace millrace::nrt::trace
