// OrtSide: ONNX Runtime's side of a comparison: the same model in the two arrangements of threads
// between which a program may choose, one session with all threads, or one session per thread. Not
// thread-safe.
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

// Waits until threads that spin after a run have fallen asleep, so that they take no core from the
// next block.
void let_threads_sleep();

class OrtSide {
 public:
  // Creates one session with `threads` threads and, for the throughput and for requests that arrive
  // at random, `threads` sessions with one thread each. They use the inputs of `ours`, which must
  // outlive this object.
  static Result<OrtSide> create(const OrtLibrary& library, const std::string& onnx_bytes,
                                const MillraceSide& ours, uint32_t threads);

  // Run for `seconds` and return the milliseconds per frame: latency_ms() the median of runs one
  // after another, throughput_ms() the mean in the better of the two arrangements.
  Result<double> latency_ms(double seconds);
  Result<double> throughput_ms(double seconds);

  // Returns the 99th percentile of the latency, in milliseconds, of requests that arrive at these
  // times (nanoseconds since the start), in the better of the two arrangements. Requirement: there
  // is at least one request.
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
  std::vector<Instance> singles_;  // empty if `whole_` has one thread
};

}  // namespace millrace::bench
