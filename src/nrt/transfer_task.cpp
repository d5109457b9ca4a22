#include "nrt/transfer_task.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::nrt {

void TransferTask::fill(Transfer transfer, StatusTarget target) noexcept {
  transfer_ = std::move(transfer);
  report_to(std::move(target));
}

Status TransferTask::run(queue::RunControl& control) noexcept {
  return device_->transfer(transfer_.to, transfer_.from, transfer_.bytes, control);
}

std::string TransferTask::describe(const queue::RunPosition& position) const {
  return fmt::format("a transfer of {} bytes, piece {}", transfer_.bytes, position.step);
}

}  // namespace millrace::nrt
