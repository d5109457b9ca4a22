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
  Status status = transfer(control);
  traced.ended_with(code_of(status));
  return status;
}

Status TransferTask::transfer(queue::RunControl& control) noexcept {
  const auto access = [](const std::shared_ptr<const Storage>& storage, const void* data,
                         size_t bytes) {
    return storage ? storage->memory.host_access().part(data, bytes) : memory::HostAccess();
  };
  const size_t bytes = transfer_.bytes;
  const auto move = [&] { return device_->transfer(transfer_.to, transfer_.from, bytes, control); };
  return memory::with_access(
      access(transfer_.source, transfer_.from, bytes), memory::Access::kRead, [&] {
        return memory::with_access(access(transfer_.target, transfer_.to, bytes),
                                   memory::Access::kWrite, move);
      });
}

std::string TransferTask::describe(const queue::RunPosition& position) const {
  return fmt::format("a transfer of {} bytes, piece {}", transfer_.bytes, position.step);
}

}  // namespace millrace::nrt
