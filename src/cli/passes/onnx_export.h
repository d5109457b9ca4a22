// Writes the graph that a compilation comes to as ONNX, for `millrace compile --emit-qdq`. An
// object belongs to one thread at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::cli {

class OnnxExport {
 public:
  // Sees the graph after each stage of the compiler (compiler::CompileOptions::on_stage), and keeps
  // the last in which quantisation still stands between the operators, not in them.
  void see(std::string_view stage, const graph::Graph& graph);

  // Writes that graph. kInvalidArgument where there is none: the model's shapes are open. Other
  // errors are those of compiler::write_onnx().
  Status write(const std::string& path) const;

 private:
  std::optional<graph::Graph> graph_;
  bool complete_ = false;
};

}  // namespace millrace::cli
