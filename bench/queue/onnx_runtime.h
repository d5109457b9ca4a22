// ONNX Runtime as a peer: one session on the one-node model, one thread, tensors bound once.
#pragma once

#include <array>
#include <memory>

#include "base/status.h"
#include "bench/peers/ort/ort_session.h"
#include "bench/queue/one_node_model.h"

namespace millrace::bench {

class OnnxRuntime {
 public:
  // kNotFound, with a human-readable reason, when MILLRACE_PEERS or the package is missing (see
  // ort_library.h); kInternal when the library does not compute what the model says.
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

// The same model through the package's own interface in node, whose run() is what a JavaScript
// program pays: the median time of one run in seconds. kNotFound as above, and where node is
// missing.
Result<double> onnx_runtime_node_seconds();

}  // namespace millrace::bench
