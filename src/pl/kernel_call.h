// KernelCall: a software kernel with its arguments, which are checked and keep their memory alive.
#pragma once

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
  // `values` has one entry per argument: the value of a scalar in its low bytes, and the device
  // address of a buffer. kInvalidArgument, with the reason, for a wrong number of arguments, an
  // address in no live memory, and an output in memory that can only be read.
  static Result<KernelCall> make(const millrace_pl_kernel& kernel,
                                 std::span<const uint64_t> values);

  // Runs the kernel to its end. kDeviceFailed, with the kernel's reason, when it fails.
  Status run() const;

 private:
  explicit KernelCall(const millrace_pl_kernel& kernel) : kernel_(&kernel) {}
  Status add(const millrace_pl_argument_info& info, uint64_t value);

  const millrace_pl_kernel* kernel_;
  std::vector<millrace_pl_argument> arguments_;
  std::vector<memory::Buffer> memory_;
};

}  // namespace millrace::pl
