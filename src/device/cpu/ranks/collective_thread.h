// CollectiveThread: runs collectives beside the steps that do not depend on them. One for a program
// of a rank; they run one after another, in the order in which they were begun, as on the other
// ranks.
//
// Used by the threads that run jobs.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/status.h"
#include "device/cpu/steps/step.h"

namespace millrace::device::cpu {

class CollectiveThread {
 public:
  // One collective of one job; belongs to the context that runs the job.
  class Call {
   private:
    friend class CollectiveThread;
    const Step* step_ = nullptr;
    std::optional<RunState> state_;
    Status status_;
    bool is_done_ = true;
    Call* next_ = nullptr;
  };

  // Blocks until the thread runs. kResourceExhausted when the system refuses it.
  static Result<std::unique_ptr<CollectiveThread>> start();
  // Requirement: every call that was begun has been awaited.
  ~CollectiveThread();
  CollectiveThread(const CollectiveThread&) = delete;
  CollectiveThread& operator=(const CollectiveThread&) = delete;

  // Has `step` run. `state` and what it refers to must stay valid until await() returns. Does not
  // block, and allocates nothing. Requirement: the call is not in use.
  void begin(Call& call, const Step& step, const RunState& state) noexcept;
  // The status of the step, when it has ended.
  Status await(Call& call) noexcept;

 private:
  CollectiveThread() = default;
  void work() noexcept;

  std::mutex mutex_;
  std::condition_variable begun_, done_;
  Call* first_ = nullptr;  // of those that have not run
  Call* last_ = nullptr;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace millrace::device::cpu
