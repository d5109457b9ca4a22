// Checks of a collective's tensors, the copies that replace it with one rank, the free list of
// collectives, and the task that runs one on a unit.
#include "nrt/requests/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <numeric>
#include <span>

#include "base/contained.h"
#include "base/never_destroyed.h"
#include "nrt/objects/tensor.h"
#include "nrt/terms/status.h"

namespace millrace::nrt {
namespace {

using Tensors = RankCollective::Tensors;

// Returns the size of an element in bytes; 0 for a value that is not an element type.
size_t element_bytes(nrt_dtype_t type) noexcept {
  switch (type) {
    case NRT_DTYPE_INT8:
    case NRT_DTYPE_UINT8:
    case NRT_DTYPE_FP8_E3:
    case NRT_DTYPE_FP8_E4:
    case NRT_DTYPE_FP8_E5:
      return 1;
    case NRT_DTYPE_INT16:
    case NRT_DTYPE_UINT16:
    case NRT_DTYPE_BFLOAT16:
    case NRT_DTYPE_FLOAT16:
      return 2;
    case NRT_DTYPE_INT32:
    case NRT_DTYPE_UINT32:
    case NRT_DTYPE_FLOAT32:
    case NRT_DTYPE_FP32R:
      return 4;
    case NRT_DTYPE_INT64:
    case NRT_DTYPE_UINT64:
      return 8;
    case NRT_DTYPE_UNKNOWN:
      break;
  }
  return 0;
}

Status find_tensors(const nrt_tensor_list_t& list, uint32_t core, nrt_dtype_t type,
                    Tensors& tensors) {
  if (list.tensors == nullptr || list.num_tensors == 0)
    return invalid_argument("a collective's list of tensors is null or empty");
  for (nrt_tensor* const handle : std::span(list.tensors, list.num_tensors)) {
    const std::shared_ptr<Tensor>& tensor = TensorHandles::find(handle);
    if (tensor == nullptr || tensor->data() == nullptr)
      return invalid_argument(
          fmt::format("tensor {} of a collective's list has no memory", tensors.size()));
    if (tensor->core() != kNoCore && tensor->core() != static_cast<int>(core))
      return invalid_argument(
          fmt::format("tensor \"{}\" is on core {}, but core {} takes part in the collective",
                      tensor->name(), tensor->core(), core));
    if (tensor->size() % element_bytes(type) != 0)
      return invalid_argument(
          fmt::format("tensor \"{}\" has {} bytes, which is not a multiple of the element size",
                      tensor->name(), tensor->size()));
    tensors.push_back(tensor);
  }
  return {};
}

// Appends the copies from the concatenated inputs to the concatenated outputs. The two lists may be
// divided into tensors differently: each copy ends where an input or an output ends.
void add_copies(const Tensors& inputs, const Tensors& outputs, std::vector<Transfer>& copies) {
  size_t in = 0, out = 0, read = 0, written = 0;
  while (in < inputs.size() && out < outputs.size()) {
    const Tensor &from = *inputs[in], &to = *outputs[out];
    const size_t bytes = std::min(from.size() - read, to.size() - written);
    copies.push_back(
        {to.data() + written, from.data() + read, bytes, to.storage(), from.storage()});
    read += bytes;
    written += bytes;
    if (read == from.size()) ++in, read = 0;
    if (written == to.size()) ++out, written = 0;
  }
}

size_t total_bytes(const Tensors& tensors) {
  return std::transform_reduce(tensors.begin(), tensors.end(), size_t{0}, std::plus<>(),
                               [](const auto& tensor) { return tensor->size(); });
}

// Checks the sizes of a collective with one rank. The output list of an all-gather may divide a
// single input, and the input list of a reduce-scatter a single output; otherwise input i and
// output i have the same size.
Status check_sizes(const Tensors& inputs, const Tensors& outputs, nrt_cc_op_type_t kind) {
  const bool cut = (kind == NRT_CC_ALLGATHER && inputs.size() == 1) ||
                   (kind == NRT_CC_REDUCESCATTER && outputs.size() == 1);
  if (!cut && inputs.size() != outputs.size())
    return invalid_argument(
        fmt::format("{} inputs do not match {} outputs: one output per input "
                    "is expected",
                    inputs.size(), outputs.size()));
  if (cut && total_bytes(inputs) != total_bytes(outputs))
    return invalid_argument(
        fmt::format("the inputs of a collective of one rank have {} bytes, the outputs {}",
                    total_bytes(inputs), total_bytes(outputs)));
  for (size_t i = 0; !cut && i < inputs.size(); ++i)
    if (inputs[i]->size() != outputs[i]->size())
      return invalid_argument(
          fmt::format("input {} of a collective of one rank has {} bytes, its output {}", i,
                      inputs[i]->size(), outputs[i]->size()));
  return {};
}

}  // namespace

// The free list of collectives of the process. Thread-safe.
class Collective::Retired {
 public:
  static Retired& of_process() {
    static NeverDestroyed<Retired> retired;
    return retired.get();
  }

  // Removes and returns one; null when the list is empty.
  std::shared_ptr<Collective> take() noexcept {
    const std::lock_guard lock(mutex_);
    if (first_ == nullptr) return nullptr;
    --count_;
    first_->is_retired_ = false;
    return std::exchange(first_, std::move(first_->next_retired_));
  }
  void add(std::shared_ptr<Collective> collective) noexcept {
    const std::lock_guard lock(mutex_);
    // It may be in the list already: two threads may have scheduled it at the same time.
    if (count_ == kMost || std::exchange(collective->is_retired_, true)) return;
    ++count_;
    collective->next_retired_ = std::move(first_);
    first_ = std::move(collective);
  }

  void drop_all() noexcept {
    while (take() != nullptr) {
    }
  }

 private:
  static constexpr size_t kMost = 1024;

  std::mutex mutex_;
  std::shared_ptr<Collective> first_;
  size_t count_ = 0;
};

Status Collective::check(const Operation& operation) {
  if (element_bytes(operation.type) == 0)
    return invalid_argument(
        fmt::format("{} is not an element type", static_cast<unsigned>(operation.type)));
  switch (operation.kind) {
    case NRT_CC_ALLGATHER:
      return {};
    case NRT_CC_ALLREDUCE:
    case NRT_CC_REDUCESCATTER:
      return reduction_of(operation.reduction).status();
  }
  return invalid_argument(
      fmt::format("there is no collective {}", static_cast<unsigned>(operation.kind)));
}

Result<std::shared_ptr<Collective>> Collective::prepare(const nrt_cc_comm_t& comm,
                                                        const nrt_tensor_list_t& inputs,
                                                        const nrt_tensor_list_t& outputs,
                                                        const Operation& operation,
                                                        std::shared_ptr<RankGroup> group) {
  std::shared_ptr<Collective> collective = Retired::of_process().take();
  if (collective == nullptr) collective = std::make_shared<Collective>();
  const Status filled = collective->fill(comm, inputs, outputs, operation, std::move(group));
  collective->from_.clear();
  collective->to_.clear();
  if (filled.ok()) return collective;
  retire(std::move(collective));
  return filled;
}

Status Collective::fill(const nrt_cc_comm_t& comm, const nrt_tensor_list_t& inputs,
                        const nrt_tensor_list_t& outputs, const Operation& operation,
                        std::shared_ptr<RankGroup> group) {
  core_ = comm.vnc;
  MILLRACE_RETURN_IF_ERROR(find_tensors(inputs, core_, operation.type, from_));
  MILLRACE_RETURN_IF_ERROR(find_tensors(outputs, core_, operation.type, to_));
  if (group != nullptr) return ranked_.prepare(std::move(group), from_, to_, operation);
  MILLRACE_RETURN_IF_ERROR(check_sizes(from_, to_, operation.kind));
  add_copies(from_, to_, copies_);
  return {};
}

void Collective::retire(std::shared_ptr<Collective> collective) noexcept {
  if (collective == nullptr) return;
  collective->copies_.clear();
  collective->ranked_.clear();
  Retired::of_process().add(std::move(collective));
}

void Collective::drop_retired() noexcept {
  Retired::of_process().drop_all();
}

Status CollectiveTask::run(queue::RunControl& control) noexcept {
  trace::RunScope traced(trace::kCollectiveRunning, outward(control.sequence()), scheduled_ns());
  Status status =
      collective_->ranked() != nullptr ? run_on_ranks(control, traced) : copy_all(control, traced);
  traced.ended_with(code_of(status));
  return status;
}

// Stops a collective when the request is stopped. Each check also reports progress to the unit's
// watchdog, so that a wait for other ranks is limited by the communicator's timeout instead, whose
// message names the rank that is missing.
class CollectiveTask::StopOfRequest final : public ranks::StopCheck {
 public:
  explicit StopOfRequest(queue::RunControl& control) noexcept : control_(control) {}
  bool stop_requested() noexcept override {
    control_.begin_step(++looks_);
    return control_.stop_requested();
  }

 private:
  queue::RunControl& control_;
  uint32_t looks_ = 0;
};

Status CollectiveTask::run_on_ranks(queue::RunControl& control, trace::RunScope& traced) noexcept {
  RankCollective& ranked = *collective_->ranked();
  traced.add_bytes(ranked.bytes());
  StopOfRequest stop(control);
  Status status = contained([&] { return ranked.run(queue_, stop); });
  rank_failure_ = status.code();
  if (status.ok()) return status;
  if (status.code() == StatusCode::kCancelled) return control.stop_status();
  // kDeviceFailed degrades the unit: without the other ranks none of its later requests can
  // succeed.
  return {StatusCode::kDeviceFailed, status.message()};
}

std::optional<NRT_STATUS> CollectiveTask::own_code(const Status& status) const noexcept {
  if (status.code() != StatusCode::kDeviceFailed || rank_failure_ == StatusCode::kOk)
    return std::nullopt;
  return code_of_rank_failure(rank_failure_);
}

Status CollectiveTask::copy_all(queue::RunControl& control, trace::RunScope& traced) noexcept {
  for (const Transfer& copy : collective_->copies()) {
    traced.add_bytes(copy.bytes);
    MILLRACE_RETURN_IF_ERROR(device_->transfer(copy.to, copy.from, copy.bytes, control));
  }
  return {};
}

}  // namespace millrace::nrt
