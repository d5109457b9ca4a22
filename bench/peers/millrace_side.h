// MillraceSide: a model on the CPU device, with inputs that both sides of a comparison read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "bench/peers/ort/ort_session.h"
#include "cli/inputs/job_buffers.h"
#include "cli/model_source.h"
#include "runtime/session.h"

namespace millrace::bench {

class MillraceSide {
 public:
  // Compiles and loads the model; `threads` lanes, one job of a frame of random numbers for each
  // and one more. Fails as the compiler and the device do, and with kUnsupported for models whose
  // shapes jobs settle.
  static Result<MillraceSide> create(const std::string& onnx, const cli::CompileFlags& flags,
                                     uint32_t threads);

  // Milliseconds per frame for so long: the median of jobs that run alone, or of the throughput
  // with all jobs in flight.
  Result<double> latency_ms(double seconds) const;
  Result<double> throughput_ms(double seconds) const;

  // The inputs of the first job, and outputs of the same form elsewhere, which have memory of
  // `memory`.
  std::vector<OrtTensor> inputs() const;
  std::vector<OrtTensor> outputs_in(std::vector<std::vector<std::byte>>& memory) const;
  // The largest difference of those from the first job's FLOAT32 outputs, by the largest magnitude
  // of each; 0 where there are no such outputs.
  double difference_from(const std::vector<OrtTensor>& outputs) const;

 private:
  cli::LoadedModel loaded_;
  std::vector<cli::JobBuffers> slots_;
  std::unique_ptr<runtime::Session> session_;  // ends before the memory of its jobs
};

}  // namespace millrace::bench
