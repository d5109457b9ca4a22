#include "nrt/units.h"

#include <fmt/format.h>

#include <thread>
#include <utility>
#include <vector>

#include "base/thread.h"
#include "nrt/collective_task.h"
#include "nrt/compute_task.h"
#include "nrt/transfer_task.h"

namespace millrace::nrt {
namespace {

const char* name_of(UnitKind kind) noexcept {
  switch (kind) {
    case UnitKind::kRead:
      return "tensor read";
    case UnitKind::kWrite:
      return "tensor write";
    case UnitKind::kOp:
      return "tensor op";
    case UnitKind::kCompute:
      return "compute";
    case UnitKind::kCollectives:
      return "collectives";
  }
  return "unknown";
}

}  // namespace

Units::Units(const Settings& settings, std::shared_ptr<device::Device> device)
    : settings_(settings),
      device_(std::move(device)),
      table_(size_t{settings.cores.count} * kUnitsPerCore) {}

Status Units::check(const UnitAddress& address) const {
  if (address.core >= settings_.cores.count)
    return invalid_argument(
        fmt::format("there is no core {}: {} are visible", address.core, settings_.cores.count));
  if (address.queue >= queues_of(address.kind))
    return invalid_argument(fmt::format("there is no queue {}: the {} unit of a core has {}",
                                        address.queue, name_of(address.kind),
                                        queues_of(address.kind)));
  return {};
}

Result<RequestUnit*> Units::use(const UnitAddress& address) {
  const uint16_t number = number_of(address);
  if (RequestUnit* const unit = find(number)) [[likely]]
    return unit;
  const std::lock_guard lock(mutex_);
  if (RequestUnit* const unit = find(number)) return unit;
  MILLRACE_ASSIGN_OR_RETURN(std::unique_ptr<queue::Unit> unit,
                            queue::Unit::create(device_->lanes(), options_of(address)));
  units_.push_back(std::make_unique<RequestUnit>(number, std::move(unit)));
  table_[number].store(units_.back().get(), std::memory_order_release);
  return units_.back().get();
}

// All at the same time: each may have to wait for what it runs.
void Units::close() {
  const std::lock_guard lock(mutex_);
  std::vector<std::thread> closing;
  closing.reserve(units_.size());
  for (const std::unique_ptr<RequestUnit>& unit : units_) {
    if (unit->queue().in_flight() == 0) continue;
    Result<std::thread> thread = start_thread("millrace-close", [&unit] { unit->queue().close(); });
    if (thread.ok()) closing.push_back(*std::move(thread));
  }
  for (const std::unique_ptr<RequestUnit>& unit : units_) unit->queue().close();
  for (std::thread& thread : closing) thread.join();
}

queue::UnitOptions Units::options_of(const UnitAddress& address) const {
  queue::UnitOptions options;
  options.name = fmt::format("core {} {} {}", address.core, name_of(address.kind), address.queue);
  options.make_task = tasks_of(address);
  options.watchdog = settings_.exec_timeout;
  options.close_patience = settings_.exec_timeout;
  options.own_thread = address.kind != UnitKind::kCompute;
  switch (address.kind) {
    case UnitKind::kCompute:
      options.depth = settings_.compute_depth;
      break;
    case UnitKind::kCollectives:
      options.depth = settings_.collectives_depth;
      break;
    default:
      options.depth = settings_.transfer_depth;
  }
  return options;
}

queue::TaskFactory Units::tasks_of(const UnitAddress& address) const {
  const uint16_t number = number_of(address);
  const auto fault = settings_.fault_status;
  switch (address.kind) {
    case UnitKind::kCompute:
      return [number, fault, limit = settings_.exec_timeout] {
        return std::make_unique<ComputeTask>(number, fault, limit);
      };
    case UnitKind::kCollectives:
      return [number, fault, device = device_] {
        return std::make_unique<CollectiveTask>(device, number, fault);
      };
    default:
      return [number, fault, device = device_] {
        return std::make_unique<TransferTask>(device, number, fault);
      };
  }
}

}  // namespace millrace::nrt
