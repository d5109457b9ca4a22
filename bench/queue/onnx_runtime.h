// ONNX Runtime as a peer: one session on the one-node model, one thread, tensors bound once.
//
// The library comes from the npm package onnxruntime-node, in the folder that the environment
// variable MILLRACE_PEERS names (`npm install onnxruntime-node@1.30.0 --ignore-scripts` there). The
// package holds no C header. The table of functions is part of ONNX Runtime's stable interface:
// entries are only ever added at its end, so the few that are needed are called by their index.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "base/status.h"
#include "bench/queue/one_node_model.h"

namespace millrace::bench {

class OnnxRuntime {
 public:
  // kNotFound, with a human-readable reason, when MILLRACE_PEERS or the package is missing;
  // kInternal when the library does not compute what the model says.
  static Result<std::unique_ptr<OnnxRuntime>> open();
  ~OnnxRuntime();
  OnnxRuntime(const OnnxRuntime&) = delete;
  OnnxRuntime& operator=(const OnnxRuntime&) = delete;

  Status run();

 private:
  OnnxRuntime() = default;
  Status load(const std::string& library);
  Status create_session();
  Status bind(std::array<float, kOneNodeElements>& data, void*& value);
  Status check();
  template <class... Arguments>
  Status call(size_t index, Arguments... arguments);
  void release(size_t index, void* object);

  void* const* functions_ = nullptr;
  void *environment_ = nullptr, *options_ = nullptr, *session_ = nullptr, *memory_ = nullptr;
  void *x_ = nullptr, *y_ = nullptr;
  std::array<float, kOneNodeElements> x_data_{}, y_data_{};
};

// The same model through the package's own interface in node, whose run() is what a JavaScript
// program pays: the median time of one run in seconds. kNotFound as above, and where node is
// missing.
Result<double> onnx_runtime_node_seconds();

}  // namespace millrace::bench
