#include "cli/passes/onnx_export.h"

#include "compiler/export/onnx_writer.h"

namespace millrace::cli {

void OnnxExport::see(std::string_view stage, const graph::Graph& graph) {
  if (stage == "import") complete_ = false;  // the compiler may lower a model more than once
  if (stage == "keep_quantised") complete_ = true;
  if (!complete_) graph_ = graph;  // constants are shared
}

Status OnnxExport::write(const std::string& path) const {
  if (!graph_)
    return invalid_argument(
        "--emit-qdq needs a model of static shapes; fix open dimensions with --input-shape");
  return compiler::write_onnx(*graph_, path);
}

}  // namespace millrace::cli
