// UnsupportedReport: collects all nodes that a lowering does not support, for one error message.
// For one thread.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/status.h"

namespace millrace::lowering {

class UnsupportedReport {
 public:
  bool empty() const { return nodes_.empty(); }

  // Adds a node. `domain` is as the model states it; an `opset` of 0 is one that the model does not
  // state. `reason` says what is not supported; it is empty if the operator is not supported at
  // all.
  void add(const std::string& node, const std::string& type, const std::string& domain, int opset,
           const std::string& reason);

  // Counts a node whose operator is supported, as far as can be said without types and shapes.
  void add_by_name(const std::string& type) { ++by_name_[type]; }

  // OK if add() was not called; else kUnsupported. The message has an indented line for the nodes
  // of each type, domain, opset and reason, and one line for those of add_by_name().
  Status status() const;

 private:
  using Key = std::tuple<std::string, std::string, int, std::string>;
  std::string looked_up_by_name() const;

  std::map<Key, std::vector<std::string>> nodes_;
  std::map<std::string, size_t> by_name_;  // operator -> nodes
};

}  // namespace millrace::lowering
