#include "tests/nrt_stress/worker.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "tests/support/tiny_model.h"

namespace millrace::stress {
namespace {

constexpr size_t kMostPending = 24;
constexpr size_t kMostRetired = 64;
// Statuses with which no request ends: before its completion, and after it was checked.
constexpr NRT_STATUS kPending = NRT_COLL_PENDING, kSeen = NRT_QUEUE_EMPTY;

constexpr size_t kInputBytes = test::kTinyInputChannels * test::kTinySide * test::kTinySide * 4;
constexpr size_t kOutputBytes = test::kTinyOutputChannels * test::kTinySide * test::kTinySide * 4;

nrt_tensor_t* make_tensor(uint32_t core, size_t bytes) {
  nrt_tensor_t* tensor = nullptr;
  nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, static_cast<int>(core), bytes, nullptr, &tensor);
  return tensor;
}

nrt_tensor_set_t* make_set(const char* name, nrt_tensor_t* tensor) {
  nrt_tensor_set_t* set = nullptr;
  nrt_allocate_tensor_set(&set);
  nrt_add_tensor_to_tensor_set(set, name, tensor);
  return set;
}

size_t index_of(const UnitOfRun& unit) {
  return unit.core * 3 + (unit.kind == NRTA_XU_COMPUTE ? 0 : 1 + static_cast<size_t>(unit.queue));
}

}  // namespace

Worker::Worker(const World& world, uint64_t seed)
    : world_(world), random_(seed), event_(eventfd(0, EFD_CLOEXEC)) {
  for (uint32_t core = 0; core < kCores; ++core) make(core);
}

// Runs after nrt_close, which has freed what the handles stood for.
Worker::~Worker() = default;

void Worker::make(uint32_t core) {
  Core& made = cores_[core];
  made.input = make_tensor(core, kInputBytes);
  made.output = make_tensor(core, kOutputBytes);
  for (nrt_tensor_t*& scratch : made.scratch) scratch = make_tensor(core, kBytes);
  made.inputs = make_set(test::kTinyInput, made.input);
  made.outputs = make_set(test::kTinyOutput, made.output);
  nrta_error_tracker_create(core, &made.tracker);
}

void Worker::run(uint64_t requests, bool drain) {
  for (uint64_t i = 0; i < requests; ++i) {
    if (random(32) == 0)
      execute();
    else
      schedule_one();
    while (pending_.size() > kMostPending) retire_oldest();
    if (random(64) == 0) fetch_errors();
  }
  while (drain && !pending_.empty()) retire_oldest();
  fetch_errors();
}

void Worker::schedule_one() {
  const UnitOfRun& unit = kAllUnits[random(kUnits)];
  auto request = std::make_unique<Request>();
  request->ret = kPending;
  request->tracked = random(4) == 0;
  NRT_STATUS status = schedule(*request, unit);
  for (; status == NRT_QUEUE_FULL; status = schedule(*request, unit)) {
    world_.statistics.full.fetch_add(1, std::memory_order_relaxed);
    world_.statistics.expect(request->sequence == 0 && request->ret == kPending,
                             "a full queue has written a status or an id");
    if (pending_.empty())
      std::this_thread::yield();
    else
      retire_oldest();
  }
  if (status != NRT_SUCCESS) {
    world_.statistics.expect(status == NRT_EXEC_UNIT_UNRECOVERABLE, "a schedule call failed");
    world_.statistics.refused.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  world_.statistics.accepted.fetch_add(1, std::memory_order_relaxed);
  world_.statistics.accepted_by_unit[index_of(unit)].fetch_add(1, std::memory_order_relaxed);
  if (request->tracked) tracked_.insert(request->sequence);
  if (random(4) == 0) watch(*request);
  pending_.push_back(std::move(request));
}

NRT_STATUS Worker::schedule(Request& request, const UnitOfRun& unit) {
  if (unit.kind == NRTA_XU_COMPUTE) return schedule_execution(request, unit.core);
  if (random(8) == 0) return schedule_on_temporary(request, unit);
  return schedule_transfer(request, unit);
}

NRT_STATUS Worker::schedule_execution(Request& request, uint32_t core) {
  const Core& on = cores_[core];
  nrt_model_t* const model = world_.models[core];
  if (request.tracked)
    return nrta_execute_schedule(model, on.inputs, on.outputs, 0, on.tracker, &request.sequence);
  return nrta_execute_schedule(model, on.inputs, on.outputs, 0, &request.ret, &request.sequence);
}

NRT_STATUS Worker::schedule_transfer(Request& request, const UnitOfRun& unit) {
  const Core& on = cores_[unit.core];
  const int core = static_cast<int>(unit.core);
  nrt_tensor_t* const scratch = on.scratch[unit.queue];
  void* const buffer = request.buffer.data();
  if (request.tracked)
    return nrta_tensor_write(scratch, buffer, 0, kBytes, unit.queue, on.tracker, &request.sequence);
  switch (random(3)) {
    case 0:
      return nrta_tensor_read(buffer, scratch, 0, kBytes, core, unit.queue, &request.ret,
                              &request.sequence);
    case 1:
      return nrta_tensor_copy(scratch, 0, scratch, kBytes / 2, kBytes / 2, core, unit.queue,
                              &request.ret, &request.sequence);
    default:
      return nrta_tensor_write(scratch, buffer, 0, kBytes, core, unit.queue, &request.ret,
                               &request.sequence);
  }
}

// The tensor is freed while the request is in flight.
NRT_STATUS Worker::schedule_on_temporary(Request& request, const UnitOfRun& unit) {
  request.tracked = false;
  nrt_tensor_t* temporary = make_tensor(unit.core, kBytes);
  const NRT_STATUS status =
      nrta_tensor_read(request.buffer.data(), temporary, 0, kBytes, static_cast<int>(unit.core),
                       unit.queue, &request.ret, &request.sequence);
  nrt_tensor_free(&temporary);
  return status;
}

void Worker::execute() {
  const uint32_t core = static_cast<uint32_t>(random(kCores));
  const NRT_STATUS status =
      nrt_execute(world_.models[core], cores_[core].inputs, cores_[core].outputs);
  world_.statistics.expect(status == NRT_SUCCESS || status == NRT_EXEC_COMPLETED_WITH_ERR,
                           "nrt_execute failed");
  world_.statistics.executed.fetch_add(1, std::memory_order_relaxed);
  world_.statistics.accepted_by_unit[size_t{core} * 3].fetch_add(1, std::memory_order_relaxed);
}

// Watches by an event fd that is counted at the end, or by one that is closed early.
void Worker::watch(const Request& request) {
  if (random(2) == 0) {
    const UniqueFd early(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    const NRT_STATUS status = nrta_event_register_seq_id_completion(request.sequence, early.get());
    world_.statistics.expect(status == NRT_SUCCESS, "an event fd was not registered");
    world_.statistics.event_fds_closed_early.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ++watched_;
  const NRT_STATUS status = nrta_event_register_seq_id_completion(request.sequence, event_.get());
  world_.statistics.expect(status == NRT_SUCCESS, "an event fd was not registered");
}

void Worker::retire_oldest() {
  std::unique_ptr<Request> request = std::move(pending_.front());
  pending_.pop_front();
  bool completed = false;
  while (nrta_is_completed(request->sequence, &completed) == NRT_SUCCESS && !completed)
    std::this_thread::yield();
  world_.statistics.expect(completed, "an id that was given out is not known");
  forget(std::move(request));
}

void Worker::forget(std::unique_ptr<Request> request) {
  if (request->tracked) {
    world_.statistics.expect(request->ret == kPending, "a tracked request wrote a status");
    world_.statistics.completed.fetch_add(1, std::memory_order_relaxed);
    world_.statistics.tracked.fetch_add(1, std::memory_order_relaxed);
  } else {
    world_.statistics.count(request->ret);
  }
  request->ret = kSeen;
  retired_.push_back(std::move(request));
  if (retired_.size() <= kMostRetired) return;
  world_.statistics.expect(retired_.front()->ret == kSeen, "a status was written twice");
  retired_.pop_front();
}

void Worker::fetch_errors() {
  for (const Core& core : cores_) {
    const nrta_error_t* errors = nullptr;
    size_t count = 0;
    nrta_error_tracker_get_list(core.tracker, &errors, &count);
    for (size_t i = 0; i < count; ++i) {
      world_.statistics.expect(tracked_.erase(errors[i].seq_id) == 1,
                               "a tracker reported a request twice, or one that is not its own");
      world_.statistics.expect(errors[i].error_code != NRT_SUCCESS, "a tracker reported a success");
    }
    world_.statistics.tracked_errors.fetch_add(count, std::memory_order_relaxed);
  }
}

void Worker::settle() {
  for (std::unique_ptr<Request>& request : pending_) forget(std::move(request));
  pending_.clear();
  for (const std::unique_ptr<Request>& request : retired_)
    world_.statistics.expect(request->ret == kSeen, "a status was written twice");
  uint64_t signalled = 0;
  if (watched_ != 0) {
    const ssize_t size = ::read(event_.get(), &signalled, sizeof signalled);
    world_.statistics.expect(size == sizeof signalled, "an event fd was never signalled");
  }
  world_.statistics.expect(signalled == watched_,
                           "an event fd was not signalled once per completion");
  world_.statistics.event_fds.fetch_add(watched_, std::memory_order_relaxed);
}

}  // namespace millrace::stress
