// MillraceSide: a model on the CPU device, with inputs that both sides of a comparison read.
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
  std::vector<int64_t> arrivals_ns;  // since the start
  double p99_ms = 0;                 // of the times from an arrival to its completion
};

class MillraceSide {
 public:
  // Compiles and loads the model for `threads` lanes, with jobs of a frame of random numbers. Fails
  // as the compiler and the device do, and with kUnsupported for models whose shapes jobs settle.
  static Result<MillraceSide> create(const std::string& onnx, const cli::CompileFlags& flags,
                                     uint32_t threads);

  // Milliseconds per frame for so long: the median of jobs that run alone, or of the throughput
  // with two jobs in flight for each lane.
  Result<double> latency_ms(double seconds) const;
  Result<double> throughput_ms(double seconds) const;

  // Serves jobs that arrive as `load` says for so long.
  Result<Served> serve(const cli::ServerLoad& load, double seconds) const;

  // The inputs of the first job, and outputs of the same form elsewhere, which have memory of
  // `memory`.
  std::vector<OrtTensor> inputs() const;
  std::vector<OrtTensor> outputs_in(std::vector<std::vector<std::byte>>& memory) const;
  // The largest difference of those from the first job's FLOAT32 outputs, by the largest magnitude
  // of each; 0 where there are no such outputs.
  double difference_from(const std::vector<OrtTensor>& outputs) const;

 private:
  cli::Workload workload(cli::Scenario scenario, double seconds) const;

  cli::LoadedModel loaded_;
  uint32_t threads_ = 0;
  std::vector<cli::JobBuffers> slots_;
  std::unique_ptr<runtime::Session> session_;  // ends before the memory of its jobs
};

}  // namespace millrace::bench
