// Runs an execution by the model's executor, with its time limit, the copies of inputs that overlap
// outputs, and the checks that the debugging variables ask for.
#include "nrt/requests/compute_task.h"

#include <cstring>
#include <new>
#include <utility>

#include "base/align.h"
#include "base/clock.h"
#include "base/format_status.h"
#include "memory/heap_block.h"
#include "nrt/requests/input_dump.h"
#include "nrt/requests/numeric_check.h"
#include "nrt/terms/status.h"
#include "nrt/trace/execution_scope.h"
#include "queue/waiting/monitor.h"
#include "ranks/communicator.h"
#include "runtime/jobs/run_job.h"

namespace millrace::nrt {
namespace {

// Requests the stop of a request whose time limit has passed, at the next step that it begins.
class TimeLimit final : public queue::ProgressObserver {
 public:
  TimeLimit(queue::RunControl& control, std::chrono::nanoseconds limit)
      : control_(control),
        end_(std::chrono::steady_clock::now() + limit),
        stopped_before_(queue::Monitor::late_wakes().noticed()),
        observed_(control, *this) {}

  bool passed() const noexcept { return passed_; }

  void on_progress(const queue::RunControl&) noexcept override {
    const Deadline now = std::chrono::steady_clock::now();
    if (passed_ || now < end_) return;
    // Time in which the process did not run (SIGSTOP, a debugger, no processor) does not count.
    if (now - (queue::Monitor::late_wakes().total(now) - stopped_before_) < end_) return;
    passed_ = true;
    control_.request_stop(control_.sequence());
  }

 private:
  queue::RunControl& control_;
  const Deadline end_;
  const std::chrono::nanoseconds stopped_before_;
  bool passed_ = false;
  const queue::ObserverScope observed_;
};

}  // namespace

void ComputeTask::fill(std::shared_ptr<const Binding> binding, StatusTarget target) noexcept {
  binding_ = std::move(binding);
  ran_.store(false, std::memory_order_relaxed);
  report_to(std::move(target));
}

Status ComputeTask::run(queue::RunControl& control) noexcept {
  const int64_t begin_ns = now_ns();
  trace::ExecutionScope traced(*binding_->model, control, outward(control.sequence()),
                               scheduled_ns());
  if (mode_ == runtime::JobMode::kThroughput) control.set_team(nullptr);
  Status status = run_in_time(control);
  if (!status.ok()) examine_failure(status, control);
  counters_.add_busy_ns(now_ns() - begin_ns);
  traced.ended_with(code_of(status));
  return status;
}

Status ComputeTask::run_in_time(queue::RunControl& control) noexcept {
  MILLRACE_RETURN_IF_ERROR(copy_shared_inputs());
  const Model& model = *binding_->model;
  TimeLimit limit(control, time_limit_);
  ran_.store(true, std::memory_order_relaxed);
  BoundaryConversions conversions;  // not used: this API does not report conversions
  Status status = runtime::run_job(*model.executor(), {model.frames(), inputs(), binding_->outputs},
                                   sync_, control, conversions);
  if (!status.ok() && limit.passed())
    return format_status(StatusCode::kHung,
                         "the request ran longer than the execution timeout of {} s",
                         std::chrono::duration_cast<std::chrono::seconds>(time_limit_).count());
  return status.ok() ? examine_outputs() : status;
}

Status ComputeTask::examine_outputs() const noexcept {
  report_numerical_errors(*binding_, checks_.reported);
  return checks_.fail_on_nan ? check_for_nan(*binding_) : Status();
}

void ComputeTask::examine_failure(const Status& status, queue::RunControl& control) const noexcept {
  const NRT_STATUS code = code_of(status);
  if (code != checks_.dump_inputs_on || !ran_.load(std::memory_order_relaxed)) return;
  dump_inputs({*binding_->model, inputs(), queue::counter_of(control.sequence()), code}, control);
}

Status ComputeTask::copy_shared_inputs() noexcept {
  if (binding_->shared_inputs.empty()) return {};
  size_t bytes = 0;
  for (const SharedInput& input : binding_->shared_inputs)
    bytes += align_up(input.bytes, memory::kHeapAlignment);
  try {
    if (scratch_->size() < bytes + memory::kHeapAlignment) {
      scratch_->clear();  // resize() would otherwise copy the old contents
      scratch_->resize(bytes + memory::kHeapAlignment);
    }
    inputs_ = binding_->inputs;
  } catch (const std::bad_alloc&) {
    return {StatusCode::kOutOfMemory, "no memory to copy the inputs that overlap outputs"};
  }
  const Model& model = *binding_->model;
  std::byte* at = scratch_->data() +
                  (-reinterpret_cast<uintptr_t>(scratch_->data()) & (memory::kHeapAlignment - 1));
  for (const SharedInput& input : binding_->shared_inputs) {
    MILLRACE_RETURN_IF_ERROR(memory::with_access(input.access, memory::Access::kRead, [&] {
      std::memcpy(at, input.data, input.bytes);
      return Status();
    }));
    for (uint32_t frame = 0; frame < model.frames(); ++frame)
      inputs_[frame * model.inputs().size() + input.binding].data = at + frame * input.frame_bytes;
    at += align_up(input.bytes, memory::kHeapAlignment);
  }
  return {};
}

std::span<const runtime::TensorBinding> ComputeTask::inputs() const noexcept {
  return binding_->shared_inputs.empty() ? binding_->inputs : inputs_;
}

std::string ComputeTask::describe(const queue::RunPosition& position) const {
  return binding_->model->executor()->describe(position);
}

void ComputeTask::on_status_written(const queue::Completion& completion) noexcept {
  if (ran_.load(std::memory_order_relaxed)) counters_.count_execution(code_of(completion.status));
  if (!completion.status.ok()) {
    if (!ran_.load(std::memory_order_relaxed))
      binding_->model->executor()->skip_job(completion.sequence);
    return;
  }
  for (const std::shared_ptr<Tensor>& tensor : binding_->written) tensor->completions().add();
}

// Translates failures of the model's collectives, and of requests after such a failure, to the
// codes of this API.
std::optional<NRT_STATUS> ComputeTask::own_code(const Status& status) const noexcept {
  const ranks::Communicator* const communicator = binding_->model->communicator();
  if (communicator == nullptr) return std::nullopt;
  switch (status.code()) {
    case StatusCode::kIoError:  // a rank has ended
      return code_of_rank_failure(status.code());
    case StatusCode::kClosed:  // the collectives have ended with an earlier request
      return NRT_EXEC_UNIT_UNRECOVERABLE;
    case StatusCode::kInvalidArgument:  // different collectives were called, or another error
      if (communicator->failure().code() != StatusCode::kInvalidArgument) return std::nullopt;
      return code_of_rank_failure(status.code());
    default:
      return std::nullopt;
  }
}

void ComputeTask::drop_references() noexcept {
  binding_.reset();
}

}  // namespace millrace::nrt
