// KernelCall: a call of a software kernel, a function that stands for a kernel in programmable
// logic, with its checked arguments. It keeps the memory of buffer arguments alive. Immutable after
// make().
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "memory/buffer.h"
#include "millrace/pl_kernel.h"

namespace millrace::pl {

class KernelCall {
 public:
  // `values` has one entry per argument: the value of a scalar in the low bytes, or the device
  // address of a buffer. kInvalidArgument, with the reason, for a wrong number of arguments, an
  // address that is in no live memory, and an output buffer in read-only memory.
  static Result<KernelCall> make(const millrace_pl_kernel& kernel,
                                 std::span<const uint64_t> values);

  // Runs the kernel on the calling thread, and blocks until it has ended. kDeviceFailed, with the
  // kernel's reason, when it fails; kIoError when the file behind a buffer was truncated.
  Status run() const { return run_within(0); }

  // Returns how long a run takes at least: the time that the kernel's model states, if it does, at
  // most a year. Calls the model on the calling thread.
  std::chrono::nanoseconds run_time() const;

 private:
  explicit KernelCall(const millrace_pl_kernel& kernel) : kernel_(&kernel) {}
  Status add(const millrace_pl_argument_info& info, uint64_t value);
  Status run_within(size_t first) const;
  Status call_kernel() const;

  struct Memory {
    memory::Buffer buffer;
    memory::Access access;
  };

  const millrace_pl_kernel* kernel_;
  std::vector<millrace_pl_argument> arguments_;
  std::vector<Memory> memory_;  // the memory of buffer arguments
};

}  // namespace millrace::pl
