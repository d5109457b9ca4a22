#include "nrt/trace/run_scope.h"

#include "base/clock.h"
#include "nrt/terms/unit_address.h"

namespace millrace::nrt::trace {

void RunScope::begin(EventType type, nrta_seq_t sequence, int64_t scheduled_ns) noexcept {
  span_.emplace();
  span_->type = type;
  span_->core = core_of(queue::unit_of(sequence));
  span_->thread = this_thread();
  span_->sequence = sequence;
  span_->scheduled_ns = scheduled_ns;
  span_->begin_ns = now_ns();
}

void RunScope::end() noexcept {
  span_->end_ns = now_ns();
  publish(*span_);
}

}  // namespace millrace::nrt::trace
