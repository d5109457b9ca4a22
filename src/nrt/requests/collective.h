// Collective: an all-gather, all-reduce or reduce-scatter that a program has prepared
// (nrta_cc_prepare) and schedules later (nrta_cc_schedule). CollectiveTask runs it. With one rank,
// each of these operations copies its inputs to its outputs.
//
// A program prepares a new object for every request. Objects that have run are kept in a free list
// and reused with their allocated vectors, so that in the steady state preparing allocates nothing.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "nrt/nrt_async.h"
#include "nrt/objects/handles.h"
#include "nrt/requests/rank_collective.h"
#include "nrt/requests/request_task.h"
#include "nrt/requests/transfer_task.h"
#include "nrt/trace/run_scope.h"

namespace millrace::nrt {

class Collective {
 public:
  // Checks the operation in the same way for one rank and for several. kInvalidArgument describes
  // what is wrong; kUnsupported for a reduction that there is not between ranks.
  static Status check(const Operation& operation);
  // Checks the tensors, and returns a collective that keeps their memory. `group` is null for one
  // rank. kInvalidArgument describes what is wrong. Requirement: check(operation) succeeds.
  static Result<std::shared_ptr<Collective>> prepare(const nrt_cc_comm_t& comm,
                                                     const nrt_tensor_list_t& inputs,
                                                     const nrt_tensor_list_t& outputs,
                                                     const Operation& operation,
                                                     std::shared_ptr<RankGroup> group);

  // Releases the group and the tensors, and puts the object in the free list. Requirement: it does
  // not run and will not be scheduled again.
  static void retire(std::shared_ptr<Collective> collective) noexcept;
  // Deletes the objects of the free list.
  static void drop_retired() noexcept;

  Collective() = default;
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  uint32_t core() const noexcept { return core_; }
  // The copies of a collective with one rank; empty with several.
  const std::vector<Transfer>& copies() const noexcept { return copies_; }
  // The collective with several ranks; null if there is one.
  RankCollective* ranked() noexcept { return ranked_.prepared() ? &ranked_ : nullptr; }

 private:
  class Retired;

  Status fill(const nrt_cc_comm_t& comm, const nrt_tensor_list_t& inputs,
              const nrt_tensor_list_t& outputs, const Operation& operation,
              std::shared_ptr<RankGroup> group);

  uint32_t core_ = 0;
  RankCollective::Tensors from_, to_;  // only used during prepare()
  std::vector<Transfer> copies_;
  RankCollective ranked_;
  // True if the object is in the free list, and the next object there.
  bool is_retired_ = false;
  std::shared_ptr<Collective> next_retired_;
};

class CollectiveTask final : public RequestTask {
 public:
  CollectiveTask(std::shared_ptr<device::Device> device, const UnitContext& unit)
      : RequestTask(unit), device_(std::move(device)), queue_(address_with(unit.number).queue) {}

  void fill(std::shared_ptr<Collective> collective, StatusTarget target) noexcept {
    collective_ = std::move(collective);
    rank_failure_ = StatusCode::kOk;
    report_to(std::move(target));
  }
  Status run(queue::RunControl& control) noexcept override;

 private:
  class StopOfRequest;

  Status copy_all(queue::RunControl& control, trace::RunScope& traced) noexcept;
  Status run_on_ranks(queue::RunControl& control, trace::RunScope& traced) noexcept;
  std::optional<NRT_STATUS> own_code(const Status& status) const noexcept override;
  void drop_references() noexcept override { Collective::retire(std::move(collective_)); }

  const std::shared_ptr<device::Device> device_;
  const uint32_t queue_;
  StatusCode rank_failure_ = StatusCode::kOk;  // the failure between ranks in the current request
  std::shared_ptr<Collective> collective_;
};

}  // namespace millrace::nrt

struct nrt_cc_context : millrace::nrt::Handle<millrace::nrt::Collective> {};

namespace millrace::nrt {
using CollectiveHandles = Handles<nrt_cc_context>;
}  // namespace millrace::nrt
