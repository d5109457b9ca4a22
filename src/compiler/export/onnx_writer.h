// Exports graphs as ONNX files for other runtimes. Thread-safe.
#pragma once

#include <string>

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::compiler {

// Writes the graph to `path`, in operators of the standard: opset 13, or the first later one that
// has all operators of the graph. Quantised values are written as integers, with QuantizeLinear and
// DequantizeLinear around the operators that compute with their real values (the QDQ format).
// Inputs and outputs keep their names. An existing file is replaced atomically.
//
// Requirement: graph::validate(graph) is OK. kUnsupported: the message names a node or value that
// operators of the standard cannot express, or says that the constants do not fit into a file (2
// GiB). kNotFound, kIoError.
Status write_onnx(const graph::Graph& graph, const std::string& path);

}  // namespace millrace::compiler
