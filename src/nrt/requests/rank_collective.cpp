// Translates the collectives of the API to those of ranks::Communicator: element types, reductions,
// and the two ways in which lists of tensors describe the blocks of the ranks.
#include "nrt/requests/rank_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "memory/host_access.h"

namespace millrace::nrt {
namespace {

Result<ranks::Element> element_of(nrt_dtype_t type) {
  using ranks::Element;
  switch (type) {
    case NRT_DTYPE_INT8:
      return Element::kInt8;
    case NRT_DTYPE_UINT8:
      return Element::kUint8;
    case NRT_DTYPE_INT16:
      return Element::kInt16;
    case NRT_DTYPE_UINT16:
      return Element::kUint16;
    case NRT_DTYPE_INT32:
      return Element::kInt32;
    case NRT_DTYPE_UINT32:
      return Element::kUint32;
    case NRT_DTYPE_INT64:
      return Element::kInt64;
    case NRT_DTYPE_UINT64:
      return Element::kUint64;
    case NRT_DTYPE_BFLOAT16:
      return Element::kBf16;
    case NRT_DTYPE_FLOAT16:
      return Element::kFp16;
    case NRT_DTYPE_FLOAT32:
    case NRT_DTYPE_FP32R:
      return Element::kFloat32;
    case NRT_DTYPE_FP8_E3:
      return Element::kFp8E3M4;
    case NRT_DTYPE_FP8_E4:
      return Element::kFp8E4M3;
    case NRT_DTYPE_FP8_E5:
      return Element::kFp8E5M2;
    case NRT_DTYPE_UNKNOWN:
      break;
  }
  return invalid_argument(fmt::format("{} is not an element type", static_cast<unsigned>(type)));
}

// Calls `body` while host access to all of `memories` is held. Recursive: takes the access to the
// first memory that needs one, and calls itself for the rest.
template <class Memory>
Status with_access_to(std::span<const Memory> memories, memory::Access access,
                      const std::function<Status()>& body) {
  const auto needs_access = [](const Memory& memory) {
    return memory.storage != nullptr && memory.storage->memory.host_access();
  };
  const auto found = std::ranges::find_if(memories, needs_access);
  if (found == memories.end()) return body();
  const auto others = memories.subspan(static_cast<size_t>(found - memories.begin()) + 1);
  return memory::with_access(
      found->storage->memory.host_access().part(found->bytes.data(), found->bytes.size()), access,
      [&] { return with_access_to(others, access, body); });
}

}  // namespace

Result<ranks::Reduction> reduction_of(nrt_op_type_t operation) {
  switch (operation) {
    case NRT_OP_ADD:
      return ranks::Reduction::kSum;
    case NRT_OP_MAX:
      return ranks::Reduction::kMax;
    case NRT_OP_MIN:
      return ranks::Reduction::kMin;
    default:
      return unsupported(
          fmt::format("reductions between ranks are sum, maximum and minimum, not "
                      "operation {}",
                      static_cast<unsigned>(operation)));
  }
}

bool RankCollective::is_divided() const noexcept {
  const auto& whole = kind_ == NRT_CC_ALLGATHER ? inputs_ : outputs_;
  return kind_ != NRT_CC_ALLREDUCE && group_->size() > 1 && whole.size() == 1 &&
         blocks_.size() == group_->size();
}

Status RankCollective::check_sizes() const {
  const uint32_t ranks = group_->size();
  if (!is_divided() && inputs_.size() != outputs_.size())
    return invalid_argument(fmt::format("{} inputs do not match {} outputs on {} ranks",
                                        inputs_.size(), outputs_.size(), ranks));
  const size_t parts_in = !is_divided() && kind_ == NRT_CC_REDUCESCATTER ? ranks : 1;
  const size_t parts_out = !is_divided() && kind_ == NRT_CC_ALLGATHER ? ranks : 1;
  for (size_t i = 0; i < std::max(inputs_.size(), outputs_.size()); ++i) {
    const size_t in = inputs_[std::min(i, inputs_.size() - 1)].bytes.size();
    const size_t out = outputs_[std::min(i, outputs_.size() - 1)].bytes.size();
    if (in * parts_out != out * parts_in)
      return invalid_argument(fmt::format(
          "an input of {} bytes does not match an output of {} bytes on {} ranks", in, out, ranks));
  }
  return {};
}

Status RankCollective::prepare(std::shared_ptr<RankGroup> group, const Tensors& inputs,
                               const Tensors& outputs, const Operation& operation) {
  group_ = std::move(group);
  kind_ = operation.kind;
  for (const auto& [tensors, memories] :
       {std::pair(&inputs, &inputs_), std::pair(&outputs, &outputs_)})
    for (const std::shared_ptr<Tensor>& tensor : *tensors)
      memories->push_back({tensor->storage(), {tensor->data(), tensor->size()}});
  for (const Memory& memory : kind_ == NRT_CC_ALLGATHER ? outputs_ : inputs_)
    blocks_.push_back(memory.bytes.data());
  MILLRACE_RETURN_IF_ERROR(check_sizes());
  MILLRACE_ASSIGN_OR_RETURN(element_, element_of(operation.type));
  if (operation.kind != NRT_CC_ALLGATHER) {
    MILLRACE_ASSIGN_OR_RETURN(reduction_, reduction_of(operation.reduction));
  }
  return {};
}

void RankCollective::clear() noexcept {
  inputs_.clear();
  outputs_.clear();
  blocks_.clear();
  group_.reset();
}

size_t RankCollective::bytes() const noexcept {
  return std::transform_reduce(inputs_.begin(), inputs_.end(), size_t{0}, std::plus<>(),
                               [](const Memory& memory) { return memory.bytes.size(); });
}

Status RankCollective::run(uint32_t queue, ranks::StopCheck& stop) {
  MILLRACE_ASSIGN_OR_RETURN(const std::shared_ptr<ranks::Communicator> channel,
                            group_->channel(queue));
  const auto run = [&] { return run_on(*channel, stop); };
  const auto run_with_outputs = [&] {
    return with_access_to(std::span<const Memory>(outputs_), memory::Access::kWrite,
                          std::ref(run));  // a copy of the closure in std::function may allocate
  };
  return with_access_to(std::span<const Memory>(inputs_), memory::Access::kRead,
                        std::ref(run_with_outputs));
}

Status RankCollective::run_on(ranks::Communicator& channel, ranks::StopCheck& stop) {
  const ranks::Limit limit{.deadline = kNoDeadline, .stop = &stop};
  if (is_divided()) return run_divided(channel, limit);
  for (size_t i = 0; i < inputs_.size(); ++i) MILLRACE_RETURN_IF_ERROR(run_pair(channel, i, limit));
  return {};
}

Status RankCollective::run_divided(ranks::Communicator& channel, const ranks::Limit& limit) {
  if (kind_ == NRT_CC_ALLGATHER)
    return channel.all_gather(inputs_[0].bytes,
                              ranks::OutputBlocks(blocks_, inputs_[0].bytes.size()), limit);
  const std::span<const std::byte* const> blocks(blocks_.data(), blocks_.size());
  return channel.reduce_scatter(ranks::InputBlocks(blocks, outputs_[0].bytes.size()),
                                outputs_[0].bytes, element_, reduction_, limit);
}

Status RankCollective::run_pair(ranks::Communicator& channel, size_t index,
                                const ranks::Limit& limit) {
  const std::span<std::byte> in = inputs_[index].bytes, out = outputs_[index].bytes;
  switch (kind_) {
    case NRT_CC_ALLREDUCE:
      return channel.all_reduce(in, out, element_, reduction_, limit);
    case NRT_CC_ALLGATHER:
      return channel.all_gather(in, ranks::OutputBlocks(out.data(), in.size(), channel.size()),
                                limit);
    case NRT_CC_REDUCESCATTER:
      return channel.reduce_scatter(ranks::InputBlocks(in.data(), out.size(), channel.size()), out,
                                    element_, reduction_, limit);
  }
  return invalid_argument("there is no such collective");
}

}  // namespace millrace::nrt
