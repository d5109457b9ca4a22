// Each function looks up its objects, finds the execution unit (find_destination), and submits a
// task that it fills in on the calling thread. A request keeps storage and bindings alive by
// references, so the program may free handles while it is in progress.
#include "nrt/calls/async/schedule.h"

#include <fmt/format.h>

#include <utility>

#include "check/check.h"
#include "nrt/calls/call.h"
#include "nrt/calls/execution.h"
#include "nrt/process/runtime.h"
#include "nrt/requests/binding.h"
#include "nrt/requests/collective.h"
#include "nrt/requests/compute_task.h"
#include "nrt/requests/transfer_task.h"
#include "nrt/requests/watched_request.h"
#include "runtime/jobs/watched_job.h"

namespace millrace::nrt {
namespace {

// The resolved unit of a Route and status target of a Reply.
struct Destination {
  RequestUnit* unit = nullptr;
  StatusTarget target;
};

NRT_STATUS find_destination(Runtime& runtime, const Route& route, int core_of_object, Reply reply,
                            Destination& destination) {
  destination.target.ret = reply.ret;
  if (reply.tracker != nullptr) {
    destination.target.tracker = TrackerHandles::find(to_handle(reply.tracker));
    if (destination.target.tracker == nullptr)
      return report(route.call, NRT_INVALID_HANDLE, "the error tracker was destroyed");
  }
  const int core = route.core.value_or(core_of_object == kNoCore ? 0 : core_of_object);
  // A negative number becomes a large unsigned one, which Units::check() refuses.
  const UnitAddress address{static_cast<uint32_t>(core), route.kind,
                            static_cast<uint32_t>(route.queue)};
  if (Status status = runtime.units().check(address); !status.ok())
    return report(route.call, status);
  const Result<RequestUnit*> unit = runtime.units().use(address);
  if (!unit.ok()) return report(route.call, unit.status());
  destination.unit = *unit;
  return NRT_SUCCESS;
}

// Submits a request; `fill(task, target)` fills in its task. Requirement: `Task` is the class of
// the unit's tasks.
template <class Task, class Fill>
NRT_STATUS submit(const Route& route, Destination& destination, Fill&& fill) {
  RequestUnit& unit = *destination.unit;
  if (const Status admitted = unit.admit_call(); !admitted.ok())
    return report(route.call, admitted);
  const Result<queue::SequenceId> id = unit.queue_unit().try_submit(
      [&](queue::Task& task) { fill(static_cast<Task&>(task), std::move(destination.target)); });
  if (!id.ok()) return report(route.call, id.status());
  const nrta_seq_t sequence = unit.outward(*id);
  trace::note_request(sequence);
  if (route.sequence != nullptr) *route.sequence = sequence;
  return NRT_SUCCESS;
}

NRT_STATUS submit_transfer(Runtime& runtime, const Route& route, int core_of_tensor, Reply reply,
                           Transfer transfer) {
  Destination destination;
  const NRT_STATUS found = find_destination(runtime, route, core_of_tensor, reply, destination);
  if (found != NRT_SUCCESS) return found;
  return submit<TransferTask>(route, destination, [&](TransferTask& task, StatusTarget target) {
    if (check::on()) [[unlikely]]
      watch_transfer(transfer, destination.unit->number(), target.ret != nullptr);
    task.fill(std::move(transfer), std::move(target));
  });
}

// Returns the tensor. Null, with the logged status in `status`, when the handle is not live or the
// range exceeds the tensor.
const Tensor* tensor_with(const Route& route, nrt_tensor* handle, uint64_t offset, uint64_t bytes,
                          NRT_STATUS& status) {
  const std::shared_ptr<Tensor>& tensor = TensorHandles::find(handle);
  if (tensor == nullptr) {
    status = report(route.call, NRT_INVALID_HANDLE, kNoTensor);
    return nullptr;
  }
  if (const Status range = tensor->check_range(offset, bytes); !range.ok()) {
    status = report(route.call, range);
    return nullptr;
  }
  return tensor.get();
}

}  // namespace

NRT_STATUS schedule_read(const Route& route, void* buffer, nrt_tensor* tensor, uint64_t offset,
                         uint64_t bytes, Reply reply) noexcept {
  return with_runtime(route.call, [&](Runtime& runtime) {
    NRT_STATUS status = NRT_SUCCESS;
    const Tensor* const source = tensor_with(route, tensor, offset, bytes, status);
    if (source == nullptr) return status;
    if (buffer == nullptr && bytes != 0)
      return report(route.call, NRT_INVALID, "the buffer is null");
    return submit_transfer(runtime, route, source->core(), reply,
                           {buffer, source->data() + offset, bytes, {}, source->storage()});
  });
}

NRT_STATUS schedule_write(const Route& route, nrt_tensor* tensor, const void* buffer,
                          uint64_t offset, uint64_t bytes, Reply reply) noexcept {
  return with_runtime(route.call, [&](Runtime& runtime) {
    NRT_STATUS status = NRT_SUCCESS;
    const Tensor* const target = tensor_with(route, tensor, offset, bytes, status);
    if (target == nullptr) return status;
    if (buffer == nullptr && bytes != 0)
      return report(route.call, NRT_INVALID, "the buffer is null");
    return submit_transfer(runtime, route, target->core(), reply,
                           {target->data() + offset, buffer, bytes, target->storage(), {}});
  });
}

NRT_STATUS schedule_copy(const Route& route, nrt_tensor* source, uint64_t source_offset,
                         nrt_tensor* target, uint64_t target_offset, uint64_t bytes,
                         Reply reply) noexcept {
  return with_runtime(route.call, [&](Runtime& runtime) {
    NRT_STATUS status = NRT_SUCCESS;
    const Tensor* const from = tensor_with(route, source, source_offset, bytes, status);
    if (from == nullptr) return status;
    const Tensor* const to = tensor_with(route, target, target_offset, bytes, status);
    if (to == nullptr) return status;
    if (const Status cores = check_same_core(*from, *to); !cores.ok())
      return report(route.call, cores);
    return submit_transfer(runtime, route, to->core() == kNoCore ? from->core() : to->core(), reply,
                           {to->data() + target_offset, from->data() + source_offset, bytes,
                            to->storage(), from->storage()});
  });
}

NRT_STATUS schedule_execution(const Route& route, nrt_model* model, const nrt_tensor_set_t* inputs,
                              nrt_tensor_set_t* outputs, Reply reply) noexcept {
  return with_runtime(route.call, [&](Runtime& runtime) {
    Execution execution;
    NRT_STATUS status = find_execution(route.call, model, inputs, outputs, execution);
    if (status != NRT_SUCCESS) return status;
    Destination destination;
    status = find_destination(runtime, route, static_cast<int>(execution.model->core()), reply,
                              destination);
    if (status != NRT_SUCCESS) return status;
    std::shared_ptr<const Binding> binding;
    status = bind_execution(route.call, runtime, execution, binding);
    if (status != NRT_SUCCESS) return status;
    return submit<ComputeTask>(route, destination, [&](ComputeTask& task, StatusTarget target) {
      if (runtime::jobs_are_watched()) [[unlikely]]
        watch_execution(*binding, destination.unit->number(), target.ret != nullptr);
      task.fill(std::move(binding), std::move(target));
    });
  });
}

NRT_STATUS schedule_collective(const Route& route, nrt_cc_context** context, Reply reply) noexcept {
  return with_runtime(route.call, [&](Runtime& runtime) {
    const std::shared_ptr<Collective> collective =
        CollectiveHandles::find(context == nullptr ? nullptr : *context);
    if (collective == nullptr)
      return report(route.call, NRT_INVALID_HANDLE,
                    "there is no such context, or it was scheduled already");
    Destination destination;
    NRT_STATUS status =
        find_destination(runtime, route, static_cast<int>(collective->core()), reply, destination);
    if (status != NRT_SUCCESS) return status;
    status =
        submit<CollectiveTask>(route, destination, [&](CollectiveTask& task, StatusTarget target) {
          task.fill(collective, std::move(target));
        });
    if (status == NRT_SUCCESS)
      CollectiveHandles::of_process().drop(std::exchange(*context, nullptr));
    return status;
  });
}

}  // namespace millrace::nrt
