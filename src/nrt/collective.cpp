#include "nrt/collective.h"

#include <fmt/format.h>

#include <span>

#include "nrt/tensor.h"

namespace millrace::nrt {
namespace {

Result<std::shared_ptr<Tensor>> tensor_at(const nrt_tensor_list_t& list, size_t index) {
  const std::shared_ptr<Tensor>& tensor = TensorHandles::find(list.tensors[index]);
  if (tensor == nullptr || tensor->data() == nullptr)
    return invalid_argument(fmt::format("tensor {} of a collective's list has no memory", index));
  return tensor;
}

Status check(const nrt_cc_comm_t& comm, const nrt_tensor_list_t& inputs,
             const nrt_tensor_list_t& outputs) {
  if (comm.rank_n != 1)
    return unsupported(
        fmt::format("a collective over {} ranks: only one rank is supported", comm.rank_n));
  if (comm.rank != 0)
    return invalid_argument(fmt::format("rank {} is not in a group of one", comm.rank));
  if (inputs.num_tensors == 0 || inputs.num_tensors != outputs.num_tensors)
    return invalid_argument(
        fmt::format("a collective of one rank takes as many outputs as inputs, not {} and {}",
                    outputs.num_tensors, inputs.num_tensors));
  if (inputs.tensors == nullptr || outputs.tensors == nullptr)
    return invalid_argument("a collective's list of tensors is null");
  return {};
}

}  // namespace

Result<std::shared_ptr<Collective>> Collective::prepare(const nrt_cc_comm_t& comm,
                                                        const nrt_tensor_list_t& inputs,
                                                        const nrt_tensor_list_t& outputs) {
  MILLRACE_RETURN_IF_ERROR(check(comm, inputs, outputs));
  std::shared_ptr<Collective> collective(new Collective(comm.vnc));
  for (size_t i = 0; i < inputs.num_tensors; ++i) {
    MILLRACE_ASSIGN_OR_RETURN(const std::shared_ptr<Tensor> input, tensor_at(inputs, i));
    MILLRACE_ASSIGN_OR_RETURN(const std::shared_ptr<Tensor> output, tensor_at(outputs, i));
    if (input->size() != output->size())
      return invalid_argument(
          fmt::format("input {} of a collective of one rank has {} bytes, its output {}", i,
                      input->size(), output->size()));
    collective->copies_.push_back(
        {output->data(), input->data(), input->size(), output->storage(), input->storage()});
  }
  return collective;
}

}  // namespace millrace::nrt
