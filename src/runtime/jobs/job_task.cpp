// How a task is filled, runs its frames, and reports the end of the job to caller and listener.
#include "runtime/jobs/job_task.h"

#include <chrono>
#include <iterator>
#include <new>
#include <span>
#include <utility>

#include "runtime/jobs/run_job.h"

namespace millrace::runtime {
namespace {

using Nanoseconds = std::chrono::nanoseconds;
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, Nanoseconds>;

SteadyTime steady_now() noexcept {
  return std::chrono::steady_clock::now();
}

}  // namespace

JobTask::JobTask(size_t tensors, Listener* listener, JobSync sync, std::shared_ptr<Profile> profile,
                 JobMode mode)
    : listener_(listener), sync_(std::move(sync)), profile_(std::move(profile)), mode_(mode) {
  tensors_.reserve(tensors);
}

void JobTask::fill(std::shared_ptr<Executor> executor, const JobBindings& bindings,
                   Job* job) noexcept {
  if (!own(std::move(executor), bindings, job)) return;
  tensors_.assign(bindings.inputs.begin(), bindings.inputs.end());
  tensors_.insert(tensors_.end(), bindings.outputs.begin(), bindings.outputs.end());
  refer_to_own(bindings);
}

void JobTask::fill_taking(std::shared_ptr<Executor> executor, const JobBindings& bindings,
                          std::span<TensorBinding> tensors) noexcept {
  if (!own(std::move(executor), bindings, nullptr)) return;
  tensors_.assign(std::make_move_iterator(tensors.begin()), std::make_move_iterator(tensors.end()));
  refer_to_own(bindings);
}

// Sets all members except the tensors, for which it reserves memory; returns false if there is not
// enough memory.
bool JobTask::own(std::shared_ptr<Executor> executor, const JobBindings& bindings,
                  Job* job) noexcept {
  owned_executor_ = std::move(executor);
  executor_ = owned_executor_.get();
  if (!prepare(bindings, job)) return false;
  try {
    tensors_.reserve(bindings.inputs.size() + bindings.outputs.size());
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

void JobTask::refer_to_own(const JobBindings& bindings) noexcept {
  const std::span<const TensorBinding> tensors(tensors_);
  inputs_ = tensors.first(bindings.inputs.size());
  outputs_ = tensors.subspan(bindings.inputs.size());
  frames_ = bindings.frames;
}

Status JobTask::run(queue::RunControl& control) noexcept {
  if (times_ != nullptr) [[unlikely]]
    times_->mark_start();
  if (span_ != nullptr) [[unlikely]]
    began_ns_.store(steady_now().time_since_epoch().count(), std::memory_order_relaxed);
  if (frames_ == 0) return {StatusCode::kOutOfMemory, "no memory for the tensors of the job"};
  if (mode_ == JobMode::kThroughput) control.set_team(nullptr);
  BoundaryConversions conversions;
  Status status = run_bound(control, conversions);
  shapes_.mark_stated();
  if (conversions.tensors != 0) {
    converted_bytes_.store(conversions.bytes, std::memory_order_relaxed);
    converted_tensors_.store(conversions.tensors, std::memory_order_relaxed);
  }
  return status;
}

Status JobTask::run_bound(queue::RunControl& control, BoundaryConversions& conversions) noexcept {
  JobBindings bindings{frames_, inputs_, outputs_};
  if (!shapes_.empty()) [[unlikely]]
    shapes_.bind(bindings);
  if (profile_ == nullptr) [[likely]]
    return run_job(*executor_, bindings, sync_, control, conversions);
  const Profile::Run profiled(*profile_, control);
  return run_job(*executor_, bindings, sync_, control, conversions);
}

// This is the first call after the end of the job, so the end is measured here: the callback may
// run much later.
void JobTask::write_status(const queue::Completion& completion) noexcept {
  if (!completion.status.ok()) [[unlikely]]  // the job may never have run
    executor_->skip_job(completion.sequence);
  if (times_ != nullptr) [[unlikely]]
    times_->mark_end();
  if (span_ != nullptr) [[unlikely]]
    report_span();
  report_conversions();
  shapes_.report();
}

void JobTask::report_conversions() noexcept {
  BoundaryConversions conversions{converted_tensors_.load(std::memory_order_relaxed), 0};
  if (conversions.tensors != 0) {
    conversions.bytes = converted_bytes_.load(std::memory_order_relaxed);
    if (listener_ != nullptr) listener_->on_conversions(conversions);
  }
  if (conversions_ != nullptr) *conversions_ = conversions;
}

void JobTask::report_span() noexcept {
  const Nanoseconds began(began_ns_.load(std::memory_order_relaxed));
  *span_ = began.count() == 0 ? JobSpan() : JobSpan{SteadyTime(began), steady_now()};
}

void JobTask::on_published(const queue::Completion& completion) noexcept {
  if (listener_ != nullptr) listener_->on_job_completed(job_, completion);
}

void JobTask::release() noexcept {
  tensors_.clear();
  shapes_.clear();
  times_.reset();
  owned_executor_.reset();
}

std::string JobTask::describe(const queue::RunPosition& position) const {
  return executor_->describe(position);
}

}  // namespace millrace::runtime
