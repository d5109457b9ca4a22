// JobRunner: what runs the jobs of a Batcher. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/status.h"
#include "millrace/job.hpp"
#include "millrace/unit.hpp"

namespace millrace::serve {

class JobRunner {
 public:
  virtual ~JobRunner() = default;
  // Submits a job of `size` frames or rows. Errors are those of Unit::submit().
  virtual Result<Job> submit(const JobArgs& args, uint32_t size) = 0;
  // A job that was submitted has ended. The callback of each job calls it once.
  virtual void job_ended() noexcept = 0;
  // The time that a job runs, as far as it is known; 0 if it is not.
  virtual std::chrono::nanoseconds mean_run() const noexcept = 0;
};

}  // namespace millrace::serve
