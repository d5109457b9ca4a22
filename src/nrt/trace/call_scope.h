// CallScope: a call of the API as an event, from its begin to its end. A call that is made by
// another call is part of that one.
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

// What the calling thread's call learns on its way. Without a call that is recorded: nothing.
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
