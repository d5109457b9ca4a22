// Writes the optimised graph of a compilation as an ONNX file in QDQ format, for `millrace compile
// --emit-qdq`. One thread at a time may use an object.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::cli {

class OnnxExport {
 public:
  // To be called with the graph after each stage (compiler::CompileOptions::on_stage). Keeps the
  // last one in which quantisation is explicit: nodes between the operators, not fused into them.
  void see(std::string_view stage, const graph::Graph& graph);

  // Writes that graph to a file. kInvalidArgument if there is none, since the model has open
  // shapes. Other errors are those of compiler::write_onnx().
  Status write(const std::string& path) const;

 private:
  std::optional<graph::Graph> graph_;
  bool complete_ = false;
};

}  // namespace millrace::cli
