#include "compiler/onnx/unsupported_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace millrace::compiler {

void UnsupportedReport::add(const std::string& node, const std::string& type,
                            const std::string& domain, int opset, const std::string& reason) {
  nodes_[{type, domain.empty() ? "ai.onnx" : domain, opset, reason}].push_back("'" + node + "'");
}

Status UnsupportedReport::status() const {
  if (empty()) return {};
  std::vector<std::string> groups;
  size_t count = 0;
  for (const auto& [key, names] : nodes_) {
    const auto& [type, domain, opset, reason] = key;
    const std::string version = opset == 0 ? "not stated" : std::to_string(opset);
    groups.push_back(fmt::format("{} (domain {}, opset {}{}{}) at {}", type, domain, version,
                                 reason.empty() ? "" : ": ", reason, fmt::join(names, ", ")));
    count += names.size();
  }
  return unsupported(fmt::format("{} {} not supported: {}", count,
                                 count == 1 ? "node is" : "nodes are", fmt::join(groups, "; ")));
}

}  // namespace millrace::compiler
