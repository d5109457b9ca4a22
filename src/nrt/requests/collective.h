// Collective: an operation between ranks, prepared once and scheduled later; CollectiveTask runs
// it. There is one rank, so each operation is a copy of its inputs to its outputs.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "nrt/nrt_async.h"
#include "nrt/objects/handles.h"
#include "nrt/requests/request_task.h"
#include "nrt/requests/transfer_task.h"
#include "nrt/trace/run_scope.h"

namespace millrace::nrt {

struct Operation {
  nrt_cc_op_type_t kind = NRT_CC_ALLGATHER;
  nrt_op_type_t reduction = NRT_OP_INVALID;  // only for kinds that reduce
  nrt_dtype_t type = NRT_DTYPE_UNKNOWN;
};

class Collective {
 public:
  // Checks tensors and types. kInvalidArgument says what is wrong.
  static Result<std::shared_ptr<Collective>> prepare(const nrt_cc_comm_t& comm,
                                                     const nrt_tensor_list_t& inputs,
                                                     const nrt_tensor_list_t& outputs,
                                                     const Operation& operation);

  uint32_t core() const noexcept { return core_; }
  const std::vector<Transfer>& copies() const noexcept { return copies_; }

 private:
  explicit Collective(uint32_t core) noexcept : core_(core) {}

  const uint32_t core_;
  std::vector<Transfer> copies_;
};

class CollectiveTask final : public RequestTask {
 public:
  CollectiveTask(std::shared_ptr<device::Device> device, UnitContext unit)
      : RequestTask(std::move(unit)), device_(std::move(device)) {}

  void fill(std::shared_ptr<Collective> collective, StatusTarget target) noexcept {
    collective_ = std::move(collective);
    report_to(std::move(target));
  }
  Status run(queue::RunControl& control) noexcept override;

 private:
  Status copy_all(queue::RunControl& control, trace::RunScope& traced) noexcept;
  void drop_references() noexcept override { collective_.reset(); }

  const std::shared_ptr<device::Device> device_;
  std::shared_ptr<Collective> collective_;
};

}  // namespace millrace::nrt

struct nrt_cc_context : millrace::nrt::Handle<millrace::nrt::Collective> {};

namespace millrace::nrt {
using CollectiveHandles = Handles<nrt_cc_context>;
}  // namespace millrace::nrt
