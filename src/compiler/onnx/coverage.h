// Coverage: which nodes of a model an import leaves out, and what depends on them.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <unordered_set>

#include "base/status.h"
#include "compiler/onnx/opsets.h"
#include "compiler/onnx/unsupported_report.h"

namespace millrace::compiler {

class Coverage {
 public:
  explicit Coverage(const Opsets& opsets) : opsets_(opsets) {}

  // The node is not covered; `reason` is empty where its operator as such is not. Nodes inside it,
  // such as those in the branches of an If, are looked up by name: what they read has no known
  // type.
  void leave_out(const ::onnx::NodeProto& node, const std::string& reason);

  // Passes over a node that reads, directly or not, what a node left out would have made: it has no
  // known types or shapes either, and is counted as checked by name only. Returns whether it did.
  bool pass_over_dependent(const ::onnx::NodeProto& node);

  // The node stays in the graph, but no device has a kernel for its types.
  void add_without_kernel(const ::onnx::NodeProto& node, const std::string& reason);

  // Whether a node that was not imported reads the value of this name.
  bool is_read_by_others(const std::string& name) const { return read_.contains(name); }

  // See UnsupportedReport::status().
  Status status() const { return report_.status(); }

 private:
  void pass_over(const ::onnx::NodeProto& node);
  void look_inside(const ::onnx::NodeProto& node, const std::string& name);
  void look_up(const ::onnx::GraphProto& graph, const std::string& prefix);

  const Opsets& opsets_;
  UnsupportedReport report_;
  std::unordered_set<std::string> unavailable_;  // outputs of nodes that were not imported,
  std::unordered_set<std::string> read_;         // and what such nodes read
};

}  // namespace millrace::compiler
