// RankCollective: a collective of several ranks, as its context holds it: checked when it is
// prepared, ready to run. It is used again for a later one, so that a program which prepares one
// after another allocates nothing. For one thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "nrt/nrt_async.h"
#include "nrt/objects/tensor.h"
#include "nrt/requests/rank_group.h"

namespace millrace::nrt {

struct Operation {
  nrt_cc_op_type_t kind = NRT_CC_ALLGATHER;
  nrt_op_type_t reduction = NRT_OP_INVALID;  // only for kinds that reduce
  nrt_dtype_t type = NRT_DTYPE_UNKNOWN;
};

class RankCollective {
 public:
  using Tensors = std::vector<std::shared_ptr<Tensor>>;

  // Becomes that collective. Each input has its output: of the same size; for an all-gather the
  // output has the size of the inputs of all ranks, for a reduce-scatter the input that of all
  // outputs. Or one side is one tensor, and the other a list with one for each rank, all of its
  // size. kInvalidArgument for other lists, kUnsupported for a reduction of which ranks have no
  // use.
  Status prepare(std::shared_ptr<RankGroup> group, const Tensors& inputs, const Tensors& outputs,
                 const Operation& operation);
  // Gives up the group and the tensors.
  void clear() noexcept;
  bool prepared() const noexcept { return group_ != nullptr; }

  // Runs through the channel of that queue. Blocks until the other ranks have come.
  Status run(uint32_t queue, ranks::StopCheck& stop);
  size_t bytes() const noexcept;  // of the inputs

 private:
  // The memory of a tensor, which is kept alive by the request.
  struct Memory {
    std::shared_ptr<const Storage> storage;
    std::span<std::byte> bytes;
  };

  Status check_sizes() const;
  // One side is a list with a tensor for each rank.
  bool is_divided() const noexcept;
  Status run_on(ranks::Communicator& channel, ranks::StopCheck& stop);
  Status run_pair(ranks::Communicator& channel, size_t index, const ranks::Limit& limit);
  Status run_divided(ranks::Communicator& channel, const ranks::Limit& limit);

  std::shared_ptr<RankGroup> group_;
  nrt_cc_op_type_t kind_ = NRT_CC_ALLGATHER;
  ranks::Element element_ = ranks::Element::kUint8;
  ranks::Reduction reduction_ = ranks::Reduction::kSum;
  std::vector<Memory> inputs_, outputs_;
  std::vector<std::byte*> blocks_;  // of the side that is a list
};

}  // namespace millrace::nrt
