// Runs a command's work in child processes, which can be ended at a time limit, and which can be
// restricted, for models that nobody vouches for.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/status.h"
#include "cli/supervision/output_sink.h"

namespace millrace::cli {

struct Supervision {
  bool sandbox = false;       // whether the child has its own descriptors and few rights
  uint64_t memory_limit = 0;  // bytes that the model may take, in a sandbox; 0: any
  std::chrono::nanoseconds time_limit{0};  // zero: none
};

// A child process that does some work. One thread.
class SupervisedChild {
 public:
  using Work = std::function<Status(const OutputSink&)>;

  // Forks and has the child do `work`. Its standard output and error are those of this process; in
  // a sandbox they are pipes, whose text finish() prints (child_text.h). To be called while the
  // process has one thread. kResourceExhausted when there can be no child; kOutOfMemory, kIoError.
  static Result<SupervisedChild> start(const Supervision& supervision, const Work& work);
  SupervisedChild(SupervisedChild&&) noexcept;
  SupervisedChild& operator=(SupervisedChild&&) noexcept;
  ~SupervisedChild();  // ends the child, if it has not ended

  // A descriptor that can be read when the child has something to tell, and when it has ended.
  int channel() const;
  // The clock time at which the child's time is up; 0 if it has no limit.
  int64_t deadline_ns() const;

  // Passes on what the work writes to its sink to `outputs` in this process until the child ends or
  // its time is up, in which case the child is ended. Returns the status of the work, or how the
  // child ended instead: kDeadlineExceeded, kUnsupported for a system call that the sandbox
  // forbids, kDeviceFailed for a signal. To be called once.
  Status finish(const OutputSink& outputs);

 private:
  struct State;
  explicit SupervisedChild(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Starts such a child and waits for its end.
Status run_supervised(const Supervision& supervision, const SupervisedChild::Work& work,
                      const OutputSink& outputs);

}  // namespace millrace::cli
