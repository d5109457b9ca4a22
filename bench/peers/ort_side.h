// OrtSide: the same model in ONNX Runtime, in the arrangements among which a program may choose.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "bench/peers/millrace_side.h"
#include "bench/peers/ort/ort_session.h"

namespace millrace::bench {

// Blocks until threads that spin after a run sleep, so that they take no core from the next block.
void let_threads_sleep();

class OrtSide {
 public:
  // One session with so many threads and, for the throughput and for requests that arrive at
  // random, as many with one thread each, on the inputs of `ours`, which must outlive this.
  static Result<OrtSide> create(const OrtLibrary& library, const std::string& onnx_bytes,
                                const MillraceSide& ours, uint32_t threads);

  // Milliseconds per frame for so long: the median of runs one after another, or of the throughput
  // in the better of the two arrangements.
  Result<double> latency_ms(double seconds);
  Result<double> throughput_ms(double seconds);

  // The 99th percentile, in milliseconds, of requests that arrive at these times, in nanoseconds
  // since the start, in the better of the two arrangements. Requirement: there is at least one.
  Result<double> server_p99_ms(std::span<const int64_t> arrivals_ns);

  const std::vector<OrtTensor>& outputs() const { return whole_.outputs; }

 private:
  struct Instance {
    std::vector<std::vector<std::byte>> memory;
    std::vector<OrtTensor> outputs;
    std::unique_ptr<OrtSession> session;
  };

  static Result<Instance> make(const OrtLibrary& library, const std::string& onnx_bytes,
                               const MillraceSide& ours, uint32_t threads);
  static Result<double> p99_ms(std::span<const Instance> servers,
                               std::span<const int64_t> arrivals_ns);

  Instance whole_;
  std::vector<Instance> singles_;  // none where `whole_` has one thread
};

}  // namespace millrace::bench
