// Collective: an operation between ranks, prepared and not yet scheduled. There is one rank, so
// that each of the operations is a copy of its inputs to its outputs.
#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "nrt/nrt_async.h"
#include "nrt/objects/handles.h"
#include "nrt/requests/transfer_task.h"

namespace millrace::nrt {

// What is computed.
struct Operation {
  nrt_cc_op_type_t kind = NRT_CC_ALLGATHER;
  nrt_op_type_t reduction = NRT_OP_INVALID;  // of the kinds that reduce
  nrt_dtype_t type = NRT_DTYPE_UNKNOWN;
};

class Collective {
 public:
  // Checks communicator, tensors and types. kInvalidArgument names what is wrong.
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

}  // namespace millrace::nrt

struct nrt_cc_context : millrace::nrt::Handle<millrace::nrt::Collective> {};

namespace millrace::nrt {
using CollectiveHandles = Handles<nrt_cc_context>;
}  // namespace millrace::nrt
