#include "lowering/placement/unsupported_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace millrace::lowering {

namespace {

// Replaces line ends in names by spaces, since a line end separates operators in the report.
std::string quoted(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return "'" + name + "'";
}

std::string first_few(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  const size_t shown = std::min(names.size(), kShown);
  const auto listed = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  return shown == names.size() ? listed
                               : fmt::format("{} and {} more", listed, names.size() - shown);
}

}  // namespace

void UnsupportedReport::add(const std::string& node, const std::string& type,
                            const std::string& domain, int opset, const std::string& reason) {
  nodes_[{type, domain.empty() ? "ai.onnx" : domain, opset, reason}].push_back(quoted(node));
}

std::string UnsupportedReport::looked_up_by_name() const {
  if (by_name_.empty()) return {};
  size_t count = 0;
  std::vector<std::string> operators;
  for (const auto& [type, nodes] : by_name_) {
    count += nodes;
    operators.push_back(fmt::format("{} ({})", type, nodes));
  }
  return fmt::format(
      "\n  {} more {} downstream of or inside these, of unknown types and shapes: only the {} "
      "could be checked: {}",
      count, count == 1 ? "node" : "nodes", count == 1 ? "name" : "names",
      fmt::join(operators, ", "));
}

Status UnsupportedReport::status() const {
  if (empty()) return {};
  std::string groups;
  size_t count = 0;
  for (const auto& [key, names] : nodes_) {
    const auto& [type, domain, opset, reason] = key;
    const std::string version = opset == 0 ? "not stated" : std::to_string(opset);
    groups += fmt::format("\n  {} (domain {}, opset {}{}{}), {} {}: {}", type, domain, version,
                          reason.empty() ? "" : ": ", reason, names.size(),
                          names.size() == 1 ? "node" : "nodes", first_few(names));
    count += names.size();
  }
  return unsupported(fmt::format("{} {} not supported:{}{}", count,
                                 count == 1 ? "node is" : "nodes are", groups,
                                 looked_up_by_name()));
}

}  // namespace millrace::lowering
