// Reads from the ONNX file of a case what its archive does not hold: the declared order and types
// of inputs and outputs, and the operators that the model uses. Thread-safe.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

struct DeclaredTensor {
  std::string name;
  int onnx_type = 0;  // TensorProto::DataType; 0 if the model does not state it
};

struct OperatorUse {
  std::string domain;  // "ai.onnx" for the default one
  std::string type;
  int64_t opset = 0;  // opset of the domain; 0 if the model does not state it
  auto operator<=>(const OperatorUse&) const = default;
};

struct ModelFacts {
  std::vector<DeclaredTensor> inputs;  // without those that have an initializer
  std::vector<DeclaredTensor> outputs;
  // The operators of all nodes, including those of subgraphs and of the model's own functions.
  std::set<OperatorUse> operators;
};

// Reads the facts from an ONNX file. kNotFound, kIoError, kCorruptData, like the compiler's reader.
Result<ModelFacts> read_model_facts(const std::string& path);

}  // namespace millrace::cli
