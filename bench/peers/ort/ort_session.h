// OrtSession: a model in ONNX Runtime, on the CPU, with all optimisations and the default spinning
// of its threads. Inputs and outputs are memory of the caller, which is bound once. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "bench/peers/ort/ort_library.h"
#include "tensor/desc.h"

namespace millrace::bench {

// A tensor of the model: its CPU view, which includes its name, and its memory.
struct OrtTensor {
  const tensor::TensorDesc* desc;
  void* data;
};

class OrtSession {
 public:
  // `onnx` is the content of a model file. The memory of the tensors must outlive the session.
  // Fails with kInternal and the message of ONNX Runtime, and with kUnsupported for element types
  // that it does not have.
  static Result<std::unique_ptr<OrtSession>> create(const OrtLibrary& library,
                                                    const std::string& onnx, uint32_t threads,
                                                    const std::vector<OrtTensor>& inputs,
                                                    const std::vector<OrtTensor>& outputs);
  ~OrtSession();
  OrtSession(const OrtSession&) = delete;
  OrtSession& operator=(const OrtSession&) = delete;

  Status run();

 private:
  // Names and values, in the form that Run expects.
  struct Side {
    std::vector<std::string> names;
    std::vector<const char*> c_names;
    std::vector<void*> values;
  };

  explicit OrtSession(const OrtLibrary& library) : library_(library) {}
  Status create_session(const std::string& onnx, uint32_t threads);
  Status bind(const std::vector<OrtTensor>& tensors, Side& side);

  const OrtLibrary library_;
  void *environment_ = nullptr, *options_ = nullptr, *session_ = nullptr, *memory_ = nullptr;
  Side inputs_, outputs_;
};

}  // namespace millrace::bench
