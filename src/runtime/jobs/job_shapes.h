// JobShapes: the dimensions of one job's open tensors, which belong to its task: a run that was
// given up may write them at any time, when the caller's memory may be gone. Empty, and without
// cost, for jobs of models whose shapes are static.
//
// Threads as for queue::Task: one fills it, one runs, one completes; the last two may be at the
// same time.
#pragma once

#include <atomic>
#include <vector>

#include "runtime/jobs/job.h"

namespace millrace::runtime {

class JobShapes {
 public:
  // Copies the dimensions of inputs, and remembers where those of outputs are wanted. Throws
  // std::bad_alloc; allocates only where no job before had as many open tensors.
  // Requirement: empty.
  void fill(const JobBindings& bindings) {
    if (bindings.open_inputs.size() + bindings.open_outputs.size() != 0) [[unlikely]]
      copy(bindings);
  }
  // Makes the job read and write the dimensions in here.
  void bind(JobBindings& bindings) const noexcept;
  // The job runs no longer: what it stated can be reported.
  void mark_stated() noexcept {
    if (!empty()) [[unlikely]]
      stated_.store(true, std::memory_order_release);
  }
  // Writes the dimensions of outputs where they are wanted, if the run has come to its end.
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
  std::vector<TensorShape*> wanted_;  // by output; null where the caller does not want it
  std::atomic<bool> stated_{false};   // pairs with report()
};

}  // namespace millrace::runtime
