// MillraceSide: Millrace's side of a comparison: a model on the CPU device, with inputs that both
// sides read. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "bench/peers/ort/ort_session.h"
#include "cli/bench/open_loop.h"
#include "cli/inputs/job_buffers.h"
#include "cli/model_source.h"
#include "runtime/session.h"

namespace millrace::bench {

// The result of serving requests that arrive at random.
struct Served {
  std::vector<int64_t> arrivals_ns;  // nanoseconds since the start
  double p99_ms = 0;                 // 99th percentile of the times from arrival to completion
};

class MillraceSide {
 public:
  // Compiles and loads the model for `threads` lanes, with random inputs for jobs of one frame.
  // Fails with the errors of the compiler and the device, and with kUnsupported for dynamic shapes.
  static Result<MillraceSide> create(const std::string& onnx, const cli::CompileFlags& flags,
                                     uint32_t threads);

  // Run jobs for `seconds` and return the milliseconds per frame: latency_ms() the median of jobs
  // that run alone, throughput_ms() the mean with two jobs in flight for each lane.
  Result<double> latency_ms(double seconds) const;
  Result<double> throughput_ms(double seconds) const;

  // Serves jobs that arrive at random, as `load` specifies, for `seconds`.
  Result<Served> serve(const cli::ServerLoad& load, double seconds) const;

  // Return the inputs of the first job, and output tensors for the other side, whose memory is
  // added to `memory`.
  std::vector<OrtTensor> inputs() const;
  std::vector<OrtTensor> outputs_in(std::vector<std::vector<std::byte>>& memory) const;
  // Returns the largest difference between these outputs and the first job's FLOAT32 outputs,
  // relative to the largest magnitude of each; 0 if there are no FLOAT32 outputs.
  double difference_from(const std::vector<OrtTensor>& outputs) const;

 private:
  cli::Workload workload(cli::Scenario scenario, double seconds) const;

  cli::LoadedModel loaded_;
  uint32_t threads_ = 0;
  std::vector<cli::JobBuffers> slots_;
  std::unique_ptr<runtime::Session> session_;  // destroyed before the memory of its jobs
};

}  // namespace millrace::bench
