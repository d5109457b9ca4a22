#include "nrt/requests/transfer_task.h"

#include <fmt/format.h>

#include <utility>

#include "nrt/trace/run_scope.h"

namespace millrace::nrt {
namespace {

trace::EventType type_of(const Transfer& transfer) noexcept {
  if (transfer.source == nullptr) return trace::kWriteRunning;
  return transfer.target == nullptr ? trace::kReadRunning : trace::kCopyRunning;
}

}  // namespace

void TransferTask::fill(Transfer transfer, StatusTarget target) noexcept {
  transfer_ = std::move(transfer);
  report_to(std::move(target));
}

Status TransferTask::run(queue::RunControl& control) noexcept {
  trace::RunScope traced(type_of(transfer_), outward(control.sequence()), scheduled_ns());
  traced.add_bytes(transfer_.bytes);
  Status status = device_->transfer(transfer_.to, transfer_.from, transfer_.bytes, control);
  traced.ended_with(code_of(status));
  return status;
}

std::string TransferTask::describe(const queue::RunPosition& position) const {
  return fmt::format("a transfer of {} bytes, piece {}", transfer_.bytes, position.step);
}

}  // namespace millrace::nrt
