// The operator sets that a model states, by domain.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <unordered_map>

#include "base/status.h"

namespace millrace::compiler {

class Opsets {
 public:
  // kUnsupported where the opset of the default domain is not one of those in operator_table.h,
  // kInvalidArgument where it is missing. A model all of whose nodes are of other domains need not
  // state it: its nodes are reported one by one.
  static Result<Opsets> read(const ::onnx::ModelProto& model);

  // The opset of a domain; 0 where the model does not state it. "ai.onnx" is the default domain "".
  int of(const std::string& domain) const;

 private:
  std::unordered_map<std::string, int> by_domain_;
};

}  // namespace millrace::compiler
