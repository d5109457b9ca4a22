// KernelRun: one run of a software kernel, on a thread of its own. Thread-safe.
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
  // Starts the kernel and returns. Fails when the system refuses a thread.
  static Result<std::shared_ptr<KernelRun>> start(KernelCall call);
  // Waits for the kernel's end: a kernel cannot be stopped.
  ~KernelRun();
  KernelRun(const KernelRun&) = delete;
  KernelRun& operator=(const KernelRun&) = delete;

  // How the kernel ended; nothing when it has not ended within the timeout. Without a timeout,
  // waits for as long as it takes.
  std::optional<Status> wait(std::optional<std::chrono::milliseconds> timeout);

 private:
  explicit KernelRun(KernelCall call) : call_(std::move(call)) {}
  void run();

  const KernelCall call_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<Status> result_;
  std::thread thread_;
};

}  // namespace millrace::pl
