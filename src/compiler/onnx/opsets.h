// The operator sets that a model states, by domain.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <string>

#include "base/status.h"

namespace millrace::compiler {

// "" of the standard's domain, which files also call "ai.onnx".
std::string canonical_domain(const std::string& domain);

// By canonical domain. kUnsupported where the opset of the default domain is not one of those in
// operator_table.h, kInvalidArgument where it is missing. A model all of whose nodes are of other
// domains need not state it: its nodes are reported one by one.
Result<std::map<std::string, int>> read_opsets(const ::onnx::ModelProto& model);

}  // namespace millrace::compiler
