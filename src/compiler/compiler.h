// The compiler: turns an ONNX file into a CompiledModel. It stands beside the layers of the
// runtime: only the command line program, the compiling part of the Python package and tests link
// it, and nothing at run time depends on ONNX or protobuf. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "compiler/options.h"
#include "graph/compiled_model.h"

namespace millrace::compiler {

// Compiles a model. If all its shapes are static and none depends on elements, the result is a
// graph; every node then has a kernel (CompileOptions::capabilities), so that the archive can be
// loaded. Otherwise the archive holds the network itself (CompiledModel::network), which the
// runtime lowers when shapes are known; it is refused only if the operators alone show that it can
// never run.
//
// kNotFound, kIoError; kCorruptData: not an ONNX protobuf, or inconsistent tensors;
// kInvalidArgument: bad options or an inconsistent model; the message names node and reason.
// kUnsupported: operators that are not supported. One message lists all of them, those in subgraphs
// included, with domain, opset and first nodes, and every operator that has no kernel for its
// types. The types and shapes of what follows such a node are unknown; the operators that read it
// are only looked up by name and counted.
Result<graph::CompiledModel> compile(const std::string& onnx_path, const CompileOptions& options);

// Compiles the content of a file, which is borrowed during the call. `name` stands for the path
// of the file: in messages and, without its extension, as the name of the model. Files of external
// data are searched in the current folder. Errors as for compile().
Result<graph::CompiledModel> compile_content(std::string_view content, const std::string& name,
                                             const CompileOptions& options);

}  // namespace millrace::compiler
