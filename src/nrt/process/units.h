// Units: the execution units of all visible cores, each made when it is first used.
//
//   kind          queues   runs on
//   compute         1      the lanes of the device
//   transfers     3 x 2    a thread of its own, so that one that hangs delays no other unit
//   collectives     3      likewise
//
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

  // Whether the address is one of a visible core and an existing queue.
  bool has(const UnitAddress& address) const noexcept {
    return address.core < settings_.cores.count && address.queue < queues_of(address.kind);
  }
  // kInvalidArgument, naming the core or the queue, for an address that has() refuses.
  Status check(const UnitAddress& address) const;
  // The unit at the address, made at the first use. Its tasks are TransferTask, ComputeTask or
  // CollectiveTask. Requirement: has(address).
  Result<RequestUnit*> use(const UnitAddress& address);
  // After this call, executions on the core may wait for those on other cores, as those of several
  // ranks in one process do: see queue::Unit::expect_waits. Requirement: the core exists.
  Status expect_waits(uint32_t core);
  // The unit with that number; null before its first use.
  RequestUnit* find(uint16_t number) const noexcept {
    return number < table_.size() ? table_[number].load(std::memory_order_acquire) : nullptr;
  }

  // Returns once the requests that the caller has seen complete hold no memory any more.
  void await_releases() const noexcept;

  // Requests that have not started end with NRT_CLOSED; waits for those that run, up to the
  // execution timeout. The units continue to exist and refuse requests.
  void close() noexcept;

 private:
  queue::TaskFactory tasks_of(UnitKind kind, UnitContext unit) const;
  queue::UnitOptions options_of(const UnitAddress& address) const;

  const Settings settings_;
  const std::shared_ptr<device::Device> device_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<RequestUnit>> units_;
  std::vector<std::atomic<RequestUnit*>> table_;  // by number
};

}  // namespace millrace::nrt
