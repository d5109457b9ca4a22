// Runs a command's work in a child process, which is ended at its time limit and which, for
// untrusted models, may be sandboxed: with few file descriptors, resource limits, no rights to
// change files (process_rights.h), and an allow-list of system calls (sandbox_filter.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/status.h"
#include "cli/supervision/output_sink.h"

namespace millrace::cli {

struct Supervision {
  bool sandbox = false;       // whether the child is restricted
  uint64_t memory_limit = 0;  // bytes that the model may use, in a sandbox; 0: no limit
  std::chrono::nanoseconds time_limit{0};  // zero: none
};

// A child process that does some work. One thread of the parent may use it.
class SupervisedChild {
 public:
  using Work = std::function<Status(const OutputSink&)>;

  // Forks a child that does `work`. Its standard output and error are those of this process; in a
  // sandbox they are pipes, whose text finish() prints (child_text.h). To be called while the
  // process has one thread. kResourceExhausted if the fork fails; kOutOfMemory, kIoError.
  static Result<SupervisedChild> start(const Supervision& supervision, const Work& work);
  SupervisedChild(SupervisedChild&&) noexcept;
  SupervisedChild& operator=(SupervisedChild&&) noexcept;
  ~SupervisedChild();  // kills the child if it has not ended

  // A descriptor that becomes readable when the child sends a message or ends.
  int channel() const;
  // The now_ns() time of the child's deadline; 0 if it has no time limit.
  int64_t deadline_ns() const;

  // Passes files that the work writes to its sink on to `outputs` in this process, until the child
  // ends or its deadline passes, in which case the child is killed. Returns the status of the work
  // or, if the child ended without one, the cause: kDeadlineExceeded; kUnsupported for a system
  // call that the sandbox forbids; kDeviceFailed for a signal. To be called once.
  Status finish(const OutputSink& outputs);

 private:
  struct State;
  explicit SupervisedChild(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Starts a child and waits for its end, by start() and finish().
Status run_supervised(const Supervision& supervision, const SupervisedChild::Work& work,
                      const OutputSink& outputs);

}  // namespace millrace::cli
