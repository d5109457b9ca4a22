#include "compiler/onnx/opsets.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/onnx/operator_table.h"

namespace millrace::compiler {
namespace {

constexpr int64_t kFirstWithOpsets = 3;  // version of the file format

bool is_default(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx";
}

// True of a model without nodes, too.
bool uses_default_domain(const ::onnx::GraphProto& graph) {
  return graph.node().empty() ||
         std::ranges::any_of(
             graph.node(), [](const ::onnx::NodeProto& node) { return is_default(node.domain()); });
}

}  // namespace

Result<Opsets> Opsets::read(const ::onnx::ModelProto& model) {
  Opsets opsets;
  for (const auto& entry : model.opset_import()) {
    const std::string domain = is_default(entry.domain()) ? "" : entry.domain();
    opsets.by_domain_[domain] = static_cast<int>(std::clamp<int64_t>(entry.version(), 0, 1 << 30));
  }
  const int opset = opsets.of("");
  if (opset >= kMinOpset && opset <= kMaxOpset) return opsets;
  // Files of the first two versions of the format do not state opsets.
  if (model.opset_import().empty() && model.has_ir_version() &&
      model.ir_version() < kFirstWithOpsets) {
    opsets.by_domain_[""] = kMinOpset;
    return opsets;
  }
  if (opset == 0) {
    if (!uses_default_domain(model.graph())) return opsets;
    return invalid_argument("the model does not state the opset of domain ai.onnx");
  }
  return unsupported(
      fmt::format("the model uses opset {} of domain ai.onnx; {} to {} are supported", opset,
                  kMinOpset, kMaxOpset));
}

int Opsets::of(const std::string& domain) const {
  const auto entry = by_domain_.find(is_default(domain) ? "" : domain);
  return entry != by_domain_.end() ? entry->second : 0;
}

}  // namespace millrace::compiler
