#include "compiler/onnx/opsets.h"

#include <algorithm>

#include "lowering/operators/operator_table.h"

namespace millrace::compiler {
namespace {

using lowering::kMinOpset;

constexpr int64_t kFirstWithOpsets = 3;  // first ir_version whose files state opsets

// A model without nodes counts as using the default domain.
bool uses_default_domain(const ::onnx::GraphProto& graph) {
  return graph.node().empty() ||
         std::ranges::any_of(graph.node(), [](const ::onnx::NodeProto& node) {
           return canonical_domain(node.domain()).empty();
         });
}

}  // namespace

std::string canonical_domain(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

Result<std::map<std::string, int>> read_opsets(const ::onnx::ModelProto& model) {
  std::map<std::string, int> opsets;
  for (const auto& entry : model.opset_import()) {
    opsets[canonical_domain(entry.domain())] =
        static_cast<int>(std::clamp<int64_t>(entry.version(), 0, 1 << 30));
  }
  const auto stated = opsets.find("");
  const int opset = stated != opsets.end() ? stated->second : 0;
  if (opset >= kMinOpset) return opsets;
  // Files of the first two versions of the format do not state opsets.
  if (model.opset_import().empty() && model.has_ir_version() &&
      model.ir_version() < kFirstWithOpsets) {
    opsets[""] = kMinOpset;
    return opsets;
  }
  if (!uses_default_domain(model.graph())) return opsets;
  return invalid_argument("the model does not state the opset of domain ai.onnx");
}

}  // namespace millrace::compiler
