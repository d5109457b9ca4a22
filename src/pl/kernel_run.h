// KernelRun: an asynchronous run of a software kernel, on a dedicated thread. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/status.h"
#include "pl/kernel_call.h"

namespace millrace::pl {

class KernelRun {
 public:
  // Starts the kernel and returns. If the kernel fails, its reason is logged when it ends, and
  // printed by default: the APIs report that a run failed, but not why. Fails when no thread can be
  // started.
  static Result<std::shared_ptr<KernelRun>> start(KernelCall call);
  // Blocks until the kernel has returned, since it cannot be stopped; not for the rest of the run
  // time that its model states.
  ~KernelRun();
  KernelRun(const KernelRun&) = delete;
  KernelRun& operator=(const KernelRun&) = delete;

  // Blocks until the run has ended, or the timeout has passed; a timeout of 0 or less means no
  // limit. A run ends when the kernel has returned and, unless it failed, the run time that its
  // model states is over. Returns the result of the kernel; nullopt on timeout.
  std::optional<Status> wait(std::chrono::milliseconds timeout);

  // Returns the result of the kernel, nullopt while it runs. Does not block.
  std::optional<Status> result();

 private:
  explicit KernelRun(KernelCall call) : call_(std::move(call)) {}
  void run();
  std::optional<Status> result_until(std::optional<std::chrono::milliseconds> timeout);

  const KernelCall call_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::condition_variable abandoned_;
  bool is_abandoned_ = false;  // the object is being destroyed
  std::optional<Status> result_;
  std::thread thread_;
};

}  // namespace millrace::pl
