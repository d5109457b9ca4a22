#include "nrt/trace/call_scope.h"

#include "base/clock.h"
#include "nrt/terms/unit_address.h"

namespace millrace::nrt::trace {
namespace {

// The call that is being recorded on this thread, always the outermost one; null if there is none.
constinit thread_local Span* open_call = nullptr;

}  // namespace

void CallScope::begin(std::string_view call) noexcept {
  if (open_call != nullptr) return;
  const std::optional<EventType> type = event_type_named(call);
  if (!type) return;
  span_.emplace();
  span_->type = *type;
  span_->thread = this_thread();
  span_->begin_ns = now_ns();
  open_call = &*span_;
}

void CallScope::end() noexcept {
  open_call = nullptr;
  span_->end_ns = now_ns();
  publish(*span_);
}

void CallNotes::core(int core) noexcept {
  if (open_call != nullptr) open_call->core = core;
}

void CallNotes::request(nrta_seq_t sequence) noexcept {
  if (open_call == nullptr) return;
  open_call->core = core_of(queue::unit_of(sequence));
  open_call->sequence = sequence;
}

}  // namespace millrace::nrt::trace
