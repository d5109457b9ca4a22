// The compiler: an ONNX file in, a CompiledModel out. Beside the stack: only the command line
// program and tests link it, nothing at run time knows ONNX or protobuf.
#pragma once

#include <string>

#include "base/status.h"
#include "compiler/options.h"
#include "graph/compiled_model.h"

namespace millrace::compiler {

// A model whose shapes are all static and follow from no elements becomes a graph; what compiles
// loads then: every node has a kernel (graph/capability.h). Of the others the network itself
// becomes the content of the archive (CompiledModel::network); they are refused only where the
// operators alone tell that they can never run.
//
// kNotFound, kIoError, kCorruptData (not an ONNX protobuf, or tensors that contradict themselves),
// kInvalidArgument (bad options or an inconsistent model, naming node and reason), kUnsupported
// (one message with every operator that is not covered, its domain, opset and first nodes, those in
// subgraphs included, and with every operator that has no kernel for the types it meets. What reads
// the result of such a node has no known types or shapes: it is looked up by the name of its
// operator, and counted).
Result<graph::CompiledModel> compile(const std::string& onnx_path, const CompileOptions& options);

}  // namespace millrace::compiler
