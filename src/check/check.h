// By these functions the APIs tell the hazard checker what a program does. It looks for mistakes in
// the use of jobs and their memory (docs/hazards.md). MILLRACE_CHECK starts it (check_program.h).
// It also observes the table of hooks (base/hooks.h), for submits, completions, waits and
// callbacks.
//
// Each function may only be called if on() returns true, so that a process without a checker pays
// one relaxed load. None blocks, but for the mutex of the checker's tables, and none fails:
// when memory is exhausted, the checker sees less. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/status.h"
#include "queue/requests/ids.h"

namespace millrace::check {

namespace check_internal {
extern std::atomic<bool> active;
}  // namespace check_internal

// Returns whether the process is checked.
inline bool on() noexcept {
  return check_internal::active.load(std::memory_order_relaxed);
}

// The memory of one tensor of a job.
struct Tensor {
  const void* data = nullptr;
  size_t bytes = 0;
  std::string_view name;
  uint32_t index = 0;  // among the inputs or outputs of a frame
  uint32_t frame = 0;
  // The device address, if the device works on a copy of its own there. A sync towards the host,
  // which is no mistake, then changes the memory while a job reads the copy.
  std::optional<uint64_t> device_copy{};
};

struct JobTraits {
  // Whether jobs of one unit run in the order in which they were submitted, as far as the program
  // can know. The units of a session are hidden from it.
  bool in_order_of_unit = true;
  bool has_callback = false;
  // Whether the program has a handle whose destructor waits for the job.
  bool has_handle = false;
  // Whether its status is written to memory of the program.
  bool writes_status = false;
  uint64_t shown_id = 0;                 // the id that the program knows, if it is another one
  std::optional<uint16_t> shown_unit{};  // the number of the unit in the ids that it knows
  const void* model = nullptr;  // stands for the object of the program that it must not free
};

// Announces a job: this thread fills its task, and submits it next. Jobs that are filled one after
// another are submitted in the same order.
void begin_job(std::string_view what, std::span<const Tensor> inputs,
               std::span<const Tensor> outputs, const JobTraits& traits) noexcept;

// While it exists, jobs that this thread announces are waited for by the call that submits them.
class SynchronousCall {
 public:
  SynchronousCall() noexcept {
    if (on()) [[unlikely]]
      enter();
  }
  ~SynchronousCall() {
    if (entered_) [[unlikely]]
      leave();
  }
  SynchronousCall(const SynchronousCall&) = delete;
  SynchronousCall& operator=(const SynchronousCall&) = delete;

 private:
  void enter() noexcept;
  void leave() noexcept;
  bool entered_ = false;
};

// The program has asked, or will be told, whether the job is completed.
void note_asked(queue::SequenceId id) noexcept;
// Does the same for a job and those before it in a unit, as far as its ids are known.
void note_asked_up_to(queue::SequenceId id) noexcept;
// Does the same for all jobs of the process, since the program counts completions.
void note_all_asked() noexcept;
// Does the same for all jobs of a unit, as by an event file descriptor of the unit.
void note_unit_asked(uint16_t unit) noexcept;
// The program ends all jobs, and knows the outcome of those in flight that write their status.
void note_ends_all() noexcept;
// The program has asked whether a job is completed, and it is not.
void note_poll_of_pending() noexcept;
// The program waits for a job whose result was collected before, by the id that it knows.
void note_second_wait(uint64_t shown_id) noexcept;
// The same where the job may also be one that was never submitted, or whose result was given up.
void note_wait_for_unknown(uint64_t shown_id) noexcept;
// The program destroys the handle of a job without having asked for its status; a wait for its end
// follows.
void note_discarded(queue::SequenceId id) noexcept;
// The program gives up the handle of a job, and nothing waits for it.
void note_detached(queue::SequenceId id) noexcept;
// The program, not a job, reads or writes memory by the call `call`.
void note_access(const char* call, const void* data, size_t bytes, bool writes) noexcept;
// The program frees memory by the call `call`. `what` names the memory.
void note_freed(const char* call, std::string_view what, const void* data, size_t bytes) noexcept;
// The program frees, by the call `call`, the object that stands for a model in JobTraits. `what`
// names the model.
void note_model_freed(const char* call, std::string_view what, const void* model) noexcept;

}  // namespace millrace::check
