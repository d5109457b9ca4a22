// Collective: an operation between ranks, prepared once and scheduled later; CollectiveTask runs
// it. With one rank each operation is a copy of its inputs to its outputs.
//
// A program prepares one for every request. Those that have run are used again, with the memory
// that they have, so that preparing allocates nothing after a while.
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
  // Checks tensors and types. `group` is null for one rank. kInvalidArgument says what is wrong.
  static Result<std::shared_ptr<Collective>> prepare(const nrt_cc_comm_t& comm,
                                                     const nrt_tensor_list_t& inputs,
                                                     const nrt_tensor_list_t& outputs,
                                                     const Operation& operation,
                                                     std::shared_ptr<RankGroup> group);

  // Gives up its group and its tensors. Nobody runs it or will.
  static void retire(std::shared_ptr<Collective> collective) noexcept;
  // Releases the memory of those that might be used again.
  static void drop_retired() noexcept;

  Collective() = default;
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  uint32_t core() const noexcept { return core_; }
  // The copies of a collective with one rank.
  const std::vector<Transfer>& copies() const noexcept { return copies_; }
  // The collective with several ranks; null if there is one.
  RankCollective* ranked() noexcept { return ranked_.prepared() ? &ranked_ : nullptr; }

 private:
  class Retired;

  Status fill(const nrt_cc_comm_t& comm, const nrt_tensor_list_t& inputs,
              const nrt_tensor_list_t& outputs, const Operation& operation,
              std::shared_ptr<RankGroup> group);

  uint32_t core_ = 0;
  RankCollective::Tensors from_, to_;  // empty, once the others hold what is needed of them
  std::vector<Transfer> copies_;
  RankCollective ranked_;
  // True if it is in the list of collectives that may be used again; and the next one there.
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
  StatusCode rank_failure_ = StatusCode::kOk;  // of the request that runs
  std::shared_ptr<Collective> collective_;
};

}  // namespace millrace::nrt

struct nrt_cc_context : millrace::nrt::Handle<millrace::nrt::Collective> {};

namespace millrace::nrt {
using CollectiveHandles = Handles<nrt_cc_context>;
}  // namespace millrace::nrt
