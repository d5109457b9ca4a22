#include "compiler/onnx/node_order.h"

#include <fmt/format.h>

#include <functional>
#include <queue>
#include <unordered_map>

#include "compiler/onnx/node_import.h"

namespace millrace::compiler {
namespace {

using Makers = std::unordered_map<std::string, int>;  // value name -> node index

Result<Makers> find_makers(const ::onnx::GraphProto& graph,
                           const std::unordered_set<std::string>& given) {
  Makers makers;
  for (int index = 0; index < graph.node_size(); ++index) {
    for (const std::string& output : graph.node(index).output()) {
      if (output.empty()) continue;
      if (given.contains(output) || !makers.emplace(output, index).second) {
        return invalid_argument(fmt::format("{}: its output '{}' exists already",
                                            NodeImport::describe(graph.node(index)), output));
      }
    }
  }
  return makers;
}

}  // namespace

Result<std::vector<int>> node_order(const ::onnx::GraphProto& graph,
                                    const std::unordered_set<std::string>& given) {
  MILLRACE_ASSIGN_OR_RETURN(const Makers makers, find_makers(graph, given));
  const auto count = static_cast<size_t>(graph.node_size());
  std::vector<std::vector<int>> readers(count);
  std::vector<int> waiting_for(count, 0);
  for (int index = 0; index < graph.node_size(); ++index) {
    for (const std::string& input : graph.node(index).input()) {
      if (input.empty() || given.contains(input)) continue;
      const auto maker = makers.find(input);
      if (maker == makers.end()) {
        return invalid_argument(
            fmt::format("{}: its input '{}' is made by no node and is no input or initializer",
                        NodeImport::describe(graph.node(index)), input));
      }
      readers[static_cast<size_t>(maker->second)].push_back(index);
      ++waiting_for[static_cast<size_t>(index)];
    }
  }

  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int index = 0; index < graph.node_size(); ++index) {
    if (waiting_for[static_cast<size_t>(index)] == 0) ready.push(index);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const int reader : readers[static_cast<size_t>(order.back())]) {
      if (--waiting_for[static_cast<size_t>(reader)] == 0) ready.push(reader);
    }
  }
  for (int index = 0; order.size() < count && index < graph.node_size(); ++index) {
    if (waiting_for[static_cast<size_t>(index)] > 0) {
      return invalid_argument(
          fmt::format("{}: it depends on its own output", NodeImport::describe(graph.node(index))));
    }
  }
  return order;
}

}  // namespace millrace::compiler
