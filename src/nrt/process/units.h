// Units: the execution units of all visible cores, each created when it is first used.
//
//   kind          queues   runs on
//   compute         1      the lanes of the device
//   transfers     3 x 2    a dedicated thread per queue, so that a transfer which hangs delays no
//                          other unit
//   collectives     3      likewise
//
// The three kinds of transfers are reads, writes and other operations (unit_address.h).
// Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "nrt/process/settings.h"
#include "nrt/requests/request_task.h"
#include "nrt/requests/request_unit.h"
#include "nrt/terms/unit_address.h"

namespace millrace::nrt {

class Units {
 public:
  Units(const Settings& settings, std::shared_ptr<device::Device> device);

  // True if the core is visible and the queue exists.
  bool has(const UnitAddress& address) const noexcept {
    return address.core < settings_.cores.count && address.queue < queues_of(address.kind);
  }
  // kInvalidArgument, which names the core or the queue, unless has(address).
  Status check(const UnitAddress& address) const;
  // Returns the unit at the address, which is created at the first use and exists as long as this
  // object. Its tasks are TransferTask, ComputeTask or CollectiveTask. Requirement: has(address).
  Result<RequestUnit*> use(const UnitAddress& address);
  // Declares that executions on the core may wait for executions on other cores, as those of
  // several ranks in one process do: see queue::Unit::expect_waits. Requirement: the core is
  // visible.
  Status expect_waits(uint32_t core);
  // Returns the unit with a number (unit_address.h); null before its first use.
  RequestUnit* find(uint16_t number) const noexcept {
    return number < table_.size() ? table_[number].load(std::memory_order_acquire) : nullptr;
  }

  // Blocks until the requests that the caller has seen complete have released their memory.
  void await_releases() const noexcept;

  // Closes all units. Requests that have not started complete with NRT_CLOSED. Blocks until the
  // running ones have ended, up to the execution timeout. The units then refuse requests.
  void close() noexcept;

 private:
  queue::TaskFactory tasks_of(UnitKind kind, UnitContext unit) const;
  queue::UnitOptions options_of(const UnitAddress& address) const;

  const Settings settings_;
  const std::shared_ptr<device::Device> device_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<RequestUnit>> units_;
  std::vector<std::atomic<RequestUnit*>> table_;  // by number; read without the mutex
};

}  // namespace millrace::nrt
