// CallScope: records a call of the API as an event, from its constructor to its destructor. A
// nested call, which Millrace makes inside another call, is not recorded separately. Costs one
// relaxed load without a listener.
#pragma once

#include <optional>
#include <string_view>

#include "nrt/trace/tap.h"

namespace millrace::nrt::trace {

class CallScope {
 public:
  explicit CallScope(std::string_view call) noexcept {
    if (listening()) [[unlikely]]
      begin(call);
  }
  ~CallScope() {
    if (span_) [[unlikely]]
      end();
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  NRT_STATUS ended_with(NRT_STATUS status) noexcept {
    if (span_) [[unlikely]]
      span_->status = status;
    return status;
  }

 private:
  void begin(std::string_view call) noexcept;
  void end() noexcept;

  std::optional<Span> span_;
};

// Adds the core or the request, which are not known at the beginning, to the recorded call of the
// calling thread. Does nothing when no call is being recorded.
struct CallNotes {
  static void core(int core) noexcept;
  static void request(nrta_seq_t sequence) noexcept;
};

inline void note_core(int core) noexcept {
  if (listening()) [[unlikely]]
    CallNotes::core(core);
}
inline void note_request(nrta_seq_t sequence) noexcept {
  if (listening()) [[unlikely]]
    CallNotes::request(sequence);
}

}  // namespace millrace::nrt::trace
