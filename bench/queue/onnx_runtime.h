// OnnxRuntime: a peer for queue_bench: one session of ONNX Runtime on the one-node model, with one
// thread and tensors that are bound once.
#pragma once

#include <array>
#include <memory>

#include "base/status.h"
#include "bench/peers/ort/ort_session.h"
#include "bench/queue/one_node_model.h"

namespace millrace::bench {

class OnnxRuntime {
 public:
  // kNotFound, with a human-readable reason, if MILLRACE_PEERS is not set or the package is missing
  // (see ort_library.h); kInternal if ONNX Runtime computes a wrong result.
  static Result<std::unique_ptr<OnnxRuntime>> open();
  OnnxRuntime(const OnnxRuntime&) = delete;
  OnnxRuntime& operator=(const OnnxRuntime&) = delete;

  Status run() { return session_->run(); }

 private:
  OnnxRuntime() = default;
  Status check();

  std::array<float, kOneNodeElements> x_data_{}, y_data_{};
  std::unique_ptr<OrtSession> session_;
};

// Returns the median time of one run, in seconds, of the same model in Node.js, through the
// package's JavaScript interface. kNotFound as above, and if Node.js is missing.
Result<double> onnx_runtime_node_seconds();

}  // namespace millrace::bench
