// Units are created under a mutex and published in a table of atomic pointers (release), which
// find() reads without a lock (acquire).
#include "nrt/process/units.h"

#include <fmt/format.h>

#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/process/thread.h"
#include "device/faulty/faulty_device.h"
#include "nrt/requests/collective.h"
#include "nrt/requests/compute_task.h"
#include "nrt/requests/transfer_task.h"
#include "runtime/units/create_unit.h"

namespace millrace::nrt {
namespace {

device::Work work_of(UnitKind kind) noexcept {
  return kind == UnitKind::kCompute ? device::Work::kJob : device::Work::kTransfer;
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
  const UnitContext context{number, settings_.fault_status, std::make_shared<Releases>()};
  queue::UnitOptions options = options_of(address);
  options.make_task = tasks_of(address.kind, context);
  MILLRACE_ASSIGN_OR_RETURN(
      std::unique_ptr<queue::Unit> unit,
      runtime::create_unit(*device_, work_of(address.kind), std::move(options)));
  std::shared_ptr<device::FaultPlan> faults = work_of(address.kind) == device::Work::kJob
                                                  ? device::faults_of(*device_)
                                                  : device::transfer_faults_of(*device_);
  units_.push_back(
      std::make_unique<RequestUnit>(number, std::move(unit), context.releases, std::move(faults)));
  table_[number].store(units_.back().get(), std::memory_order_release);
  if (log_enabled(LogLevel::kDebug))
    log(LogLevel::kDebug, "nrt", fmt::format("unit {} '{}' is created", number, name_of(address)));
  return units_.back().get();
}

Status Units::expect_waits(uint32_t core) {
  MILLRACE_ASSIGN_OR_RETURN(RequestUnit* const unit, use({core, UnitKind::kCompute, 0}));
  return unit->queue_unit().expect_waits();
}

void Units::await_releases() const noexcept {
  for (const std::atomic<RequestUnit*>& entry : table_)
    if (RequestUnit* const unit = entry.load(std::memory_order_acquire)) unit->await_releases();
}

// Closes all units at the same time, on a thread each, since each may have to wait for its running
// request. Units for which no thread can be started are closed one after another.
void Units::close() noexcept {
  const std::lock_guard lock(mutex_);
  std::vector<std::thread> closing;
  try {
    closing.reserve(units_.size());
    for (const std::unique_ptr<RequestUnit>& unit : units_) {
      if (unit->queue_unit().in_flight() == 0) continue;
      Result<std::thread> thread =
          start_thread("millrace-close", [&unit] { unit->queue_unit().close(); });
      if (thread.ok()) closing.push_back(*std::move(thread));
    }
  } catch (const std::bad_alloc&) {
    // The remaining units are closed one after another.
  }
  for (const std::unique_ptr<RequestUnit>& unit : units_) unit->queue_unit().close();
  for (std::thread& thread : closing) thread.join();
}

queue::UnitOptions Units::options_of(const UnitAddress& address) const {
  queue::UnitOptions options;
  options.name = name_of(address);
  options.shown_number = number_of(address);
  options.watchdog = settings_.watchdog;
  options.own_thread = address.kind != UnitKind::kCompute;
  switch (address.kind) {
    case UnitKind::kCompute:
      options.depth = settings_.compute_depth;
      break;
    case UnitKind::kCollectives:
      options.depth = settings_.collectives_depth;
      options.thread_name = "millrace-collec";
      break;
    default:
      options.thread_name = "millrace-mover";
      options.depth = settings_.transfer_depth;
  }
  return options;
}

queue::TaskFactory Units::tasks_of(UnitKind kind, UnitContext unit) const {
  switch (kind) {
    case UnitKind::kCompute:
      return [unit, limit = settings_.exec_timeout, checks = settings_.checks,
              mode = settings_.job_mode, scratch = std::make_shared<std::vector<std::byte>>()] {
        return std::make_unique<ComputeTask>(unit, limit, checks, mode, scratch);
      };
    case UnitKind::kCollectives:
      return [unit, device = device_] { return std::make_unique<CollectiveTask>(device, unit); };
    default:
      return [unit, device = device_] { return std::make_unique<TransferTask>(device, unit); };
  }
}

}  // namespace millrace::nrt
