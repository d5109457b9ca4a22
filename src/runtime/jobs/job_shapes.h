// JobShapes: the task's copy of the dimensions of a job's open tensors. A job writes to this copy,
// since a run that was given up may write at any time, when the caller's memory may be gone. Empty,
// and almost without cost, for models with static shapes.
//
// Threads are as for queue::Task: one fills it, one runs the job and one completes it; the last two
// may be concurrent.
#pragma once

#include <atomic>
#include <vector>

#include "runtime/jobs/job.h"

namespace millrace::runtime {

class JobShapes {
 public:
  // Copies the dimensions of inputs, and stores where those of outputs will be written. Throws
  // std::bad_alloc; allocates only if no earlier job had as many open tensors. Requirement: it is
  // empty.
  void fill(const JobBindings& bindings) {
    if (bindings.open_inputs.size() + bindings.open_outputs.size() != 0) [[unlikely]]
      copy(bindings);
  }
  // Makes the bindings refer to this copy.
  void bind(JobBindings& bindings) const noexcept;
  // Called when the run has ended: from now on report() may read the dimensions that it has
  // written.
  void mark_stated() noexcept {
    if (!empty()) [[unlikely]]
      stated_.store(true, std::memory_order_release);
  }
  // Writes the dimensions of outputs to the caller's memory, if the run has ended.
  void report() const noexcept {
    if (!empty()) [[unlikely]]
      write();
  }
  void clear() noexcept {
    if (!empty()) [[unlikely]]
      drop();
  }
  bool empty() const noexcept { return open_.empty(); }

 private:
  void copy(const JobBindings& bindings);
  void write() const noexcept;
  void drop() noexcept;

  std::vector<OpenTensor> open_;      // the inputs, then the outputs, with shapes in `shapes_`
  std::vector<TensorShape> shapes_;   // shapes of the same tensors
  std::vector<TensorShape*> wanted_;  // by output; null if the caller does not want the shape
  std::atomic<bool> stated_{false};   // set by mark_stated(), read by report()
};

}  // namespace millrace::runtime
