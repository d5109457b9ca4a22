// The facts that a run needs about a case's model besides its archive.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

struct DeclaredTensor {
  std::string name;
  int onnx_type = 0;  // TensorProto::DataType; 0 where the model does not say it
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

// kNotFound, kIoError, kCorruptData, as the compiler's own reader has it.
Result<ModelFacts> read_model_facts(const std::string& path);

}  // namespace millrace::cli
