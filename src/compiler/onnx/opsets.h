// Reads the operator sets (opsets) that a model states, by domain. Thread-safe.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <string>

#include "base/status.h"

namespace millrace::compiler {

// Returns the domain, with "" for the domain of the standard, which files also call "ai.onnx".
std::string canonical_domain(const std::string& domain);

// Returns opsets by canonical domain. That of the default domain may be later than kMaxOpset
// (lowering/operators/operator_table.h). kInvalidArgument: it is missing. A model whose nodes are
// all of other domains need not state it: the lowering reports such nodes one by one.
Result<std::map<std::string, int>> read_opsets(const ::onnx::ModelProto& model);

}  // namespace millrace::compiler
