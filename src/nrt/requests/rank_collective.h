// RankCollective: the part of a Collective that needs several ranks: tensors, sizes and types are
// checked by prepare(), and run() executes it on a communicator. The object is reused with its
// allocated vectors for later collectives. Not thread-safe.
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

// Returns how the ranks combine elements: sum, maximum or minimum. kUnsupported names any other
// operation of the API.
Result<ranks::Reduction> reduction_of(nrt_op_type_t operation);

class RankCollective {
 public:
  using Tensors = std::vector<std::shared_ptr<Tensor>>;

  // Prepares a collective on `group`. With R ranks, there are two valid combinations of tensors:
  //   - Input i belongs to output i. An all-reduce needs equal sizes. The output of an all-gather
  //     has R times the size of its input, and the input of a reduce-scatter R times the size of
  //     its output.
  //   - An all-gather has one input and R outputs, or a reduce-scatter R inputs and one output, all
  //     of the same size.
  // kInvalidArgument for other lists or an unknown element type, kUnsupported for a reduction other
  // than sum, maximum and minimum.
  Status prepare(std::shared_ptr<RankGroup> group, const Tensors& inputs, const Tensors& outputs,
                 const Operation& operation);
  // Releases the group and the tensors, and keeps the vectors.
  void clear() noexcept;
  bool prepared() const noexcept { return group_ != nullptr; }

  // Runs the collective on the group's channel for `queue`. Blocks until the other ranks have taken
  // part, `stop` requests a stop, or the communicator's timeout has passed.
  Status run(uint32_t queue, ranks::StopCheck& stop);
  size_t bytes() const noexcept;  // the size of all inputs

 private:
  // The memory of a tensor, and the reference that keeps it alive.
  struct Memory {
    std::shared_ptr<const Storage> storage;
    std::span<std::byte> bytes;
  };

  Status check_sizes() const;
  // True for the second combination of prepare(): one side is a list with one tensor per rank.
  bool is_divided() const noexcept;
  Status run_on(ranks::Communicator& channel, ranks::StopCheck& stop);
  Status run_pair(ranks::Communicator& channel, size_t index, const ranks::Limit& limit);
  Status run_divided(ranks::Communicator& channel, const ranks::Limit& limit);

  std::shared_ptr<RankGroup> group_;
  nrt_cc_op_type_t kind_ = NRT_CC_ALLGATHER;
  ranks::Element element_ = ranks::Element::kUint8;
  ranks::Reduction reduction_ = ranks::Reduction::kSum;
  std::vector<Memory> inputs_, outputs_;
  std::vector<std::byte*> blocks_;  // addresses of the outputs (all-gather) or else the inputs
};

}  // namespace millrace::nrt
