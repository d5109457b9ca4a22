// Collects all nodes that an import does not cover, for one message.
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

  // `domain` as the model states it; an `opset` of 0 is one that the model does not state. `reason`
  // says what is not covered; it is empty where the operator as such is not.
  void add(const std::string& node, const std::string& type, const std::string& domain, int opset,
           const std::string& reason);

  // A node whose operator is covered, as far as that can be said without types and shapes.
  void add_by_name(const std::string& type) { ++by_name_[type]; }

  // OK where add() was not called; else kUnsupported, with a line of its own, indented, for the
  // nodes of one type, domain, opset and reason, and one for those of add_by_name().
  Status status() const;

 private:
  using Key = std::tuple<std::string, std::string, int, std::string>;
  std::string looked_up_by_name() const;

  std::map<Key, std::vector<std::string>> nodes_;
  std::map<std::string, size_t> by_name_;  // operator -> nodes
};

}  // namespace millrace::lowering
