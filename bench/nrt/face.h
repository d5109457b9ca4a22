// The NRT objects that a benchmark needs: a runtime, a loaded model, and tensors for an execution.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "graph/compiled_model.h"
#include "nrt/nrt.h"
#include "nrt/nrt_async.h"

namespace millrace::bench {

// Throws std::runtime_error with the name of the call unless it succeeded.
void expect_success(NRT_STATUS status, const char* call);

// A runtime, from nrt_init to nrt_close, with one core (unless the variables say otherwise) and
// these environment variables, and a loaded model with one input and one output.
class Face {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;
  Face(const Variables& environment, const graph::CompiledModel& model);
  ~Face();
  Face(const Face&) = delete;
  Face& operator=(const Face&) = delete;

  nrt_model_t* model() const noexcept { return model_; }
  const nrt_tensor_info_t& input() const noexcept { return info_->tensor_array[0]; }
  const nrt_tensor_info_t& output() const noexcept { return info_->tensor_array[1]; }

 private:
  const Variables environment_;
  nrt_model_t* model_ = nullptr;
  nrt_tensor_info_array_t* info_ = nullptr;
};

// The tensors of one execution, in tensor sets, with host buffers.
class Slot {
 public:
  explicit Slot(const Face& face);
  ~Slot();
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  nrt_tensor_t* input = nullptr;
  nrt_tensor_t* output = nullptr;
  nrt_tensor_set_t* inputs = nullptr;
  nrt_tensor_set_t* outputs = nullptr;
  std::vector<std::byte> from, to;  // host buffers of the sizes of input and output
};

// Returns a model of `operations` Tanh operators in sequence on a FLOAT32 tensor [1, elements]. Its
// execution time grows with both, the time of transfers with `elements`.
graph::CompiledModel tanh_model(uint32_t elements, int operations);

}  // namespace millrace::bench
