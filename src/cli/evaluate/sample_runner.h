// SampleRunner runs a program on samples, with several jobs in flight so that all lanes of its
// device are busy, and returns the values of one output in the order of the samples. One thread at
// a time may use it.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/data/data_set.h"
#include "cli/inputs/job_buffers.h"
#include "cli/model_source.h"
#include "runtime/session.h"

namespace millrace::cli {

class SampleRunner {
 public:
  // Called by add() and finish(), on their thread, with the output's values for each sample, in
  // order.
  using OnValues = std::function<Status(const std::string& sample, std::vector<float> values)>;

  // `inputs` are those of the model, with the shapes of open ones. `output` is the index of the
  // output. Errors are those of runtime::Session::create().
  static Result<std::unique_ptr<SampleRunner>> create(const LoadedModel& loaded,
                                                      std::vector<graph::Boundary> inputs,
                                                      size_t output, OnValues on_values);

  // Adds a sample. Submits a job if there are samples for a whole batch; if enough jobs are in
  // flight, waits for the oldest one first. Errors name the first sample of the job that failed.
  Status add(const Sample& sample);
  // Submits the samples of an incomplete batch, and waits for all jobs.
  Status finish();

 private:
  struct Job {
    JobBuffers buffers;
    std::vector<std::string> names;  // names of the samples, one frame each
    runtime::SessionJobId id = 0;
  };

  SampleRunner() = default;
  Result<Job> new_job(uint32_t frames);
  Status submit();
  Status collect();

  std::vector<graph::Boundary> inputs_;
  size_t output_ = 0;
  OnValues on_values_;
  uint32_t batch_ = 1;
  size_t in_flight_ = 1;
  std::vector<Sample> waiting_;  // for their batch to be complete
  std::vector<Job> idle_;        // with buffers for whole batches, to be used again
  std::deque<Job> running_;      // oldest first
  // Declared last, so that it is destroyed before the buffers of its jobs.
  std::unique_ptr<runtime::Session> session_;
};

}  // namespace millrace::cli
