#include "nrt/requests/collective_task.h"

namespace millrace::nrt {

Status CollectiveTask::run(queue::RunControl& control) noexcept {
  trace::RunScope traced(trace::kCollectiveRunning, outward(control.sequence()), scheduled_ns());
  Status status = copy_all(control, traced);
  traced.ended_with(code_of(status));
  return status;
}

Status CollectiveTask::copy_all(queue::RunControl& control, trace::RunScope& traced) noexcept {
  for (const Transfer& copy : collective_->copies()) {
    traced.add_bytes(copy.bytes);
    MILLRACE_RETURN_IF_ERROR(device_->transfer(copy.to, copy.from, copy.bytes, control));
  }
  return {};
}

}  // namespace millrace::nrt
