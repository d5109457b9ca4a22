// SampleRunner: one program that goes through samples with several jobs in flight, so that all
// lanes of its device are at work, and gives the values of one output in the order of the samples.
// Used by one thread at a time.
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
  // Called by add() and finish(), with what the output held for one sample after another.
  using OnValues = std::function<Status(const std::string& sample, std::vector<float> values)>;

  // `inputs` are those of the model, the open ones settled. Errors as runtime::Session::create().
  static Result<std::unique_ptr<SampleRunner>> create(const LoadedModel& loaded,
                                                      std::vector<graph::Boundary> inputs,
                                                      size_t output, OnValues on_values);

  // Submits a job when there are samples for a whole batch, and waits for the first one when enough
  // are in flight. Errors name the sample that they are about.
  Status add(const Sample& sample);
  // Runs what is left of a batch, and waits for all.
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
  std::vector<Sample> waiting_;  // for their batch
  std::vector<Job> idle_;        // with buffers for whole batches
  std::deque<Job> running_;
  // Ended before the buffers of its jobs are.
  std::unique_ptr<runtime::Session> session_;
};

}  // namespace millrace::cli
