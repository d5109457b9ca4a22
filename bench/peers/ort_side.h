// OrtSide: the same model in ONNX Runtime, in the arrangements among which a program may choose.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "bench/peers/millrace_side.h"
#include "bench/peers/ort/ort_session.h"

namespace millrace::bench {

class OrtSide {
 public:
  // One session with so many threads and, for the throughput, as many with one thread each, on the
  // inputs of `ours`, which must outlive this.
  static Result<OrtSide> create(const OrtLibrary& library, const std::string& onnx_bytes,
                                const MillraceSide& ours, uint32_t threads);

  // Milliseconds per frame for so long: the median of runs one after another, or of the throughput
  // in the better of the two arrangements.
  Result<double> latency_ms(double seconds);
  Result<double> throughput_ms(double seconds);

  const std::vector<OrtTensor>& outputs() const { return whole_.outputs; }

 private:
  struct Instance {
    std::vector<std::vector<std::byte>> memory;
    std::vector<OrtTensor> outputs;
    std::unique_ptr<OrtSession> session;
  };

  static Result<Instance> make(const OrtLibrary& library, const std::string& onnx_bytes,
                               const MillraceSide& ours, uint32_t threads);

  Instance whole_;
  std::vector<Instance> singles_;  // none where `whole_` has one thread
};

}  // namespace millrace::bench
