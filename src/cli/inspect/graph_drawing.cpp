// A value that no node makes and that is no input is a constant: its type and shape are a line of
// the boxes of its readers, as in other viewers of networks, since an edge from each weight would
// hide the graph.
#include "cli/inspect/graph_drawing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <variant>

#include "base/printable.h"
#include "cli/passes/graph_text.h"
#include "graph/network/network.h"
#include "graph/shape.h"

namespace millrace::cli {
namespace {

constexpr size_t kMostLetters = 72;  // of a line of a box

// Returns the text as part of a string in DOT, whose only escape sequences begin with a backslash.
std::string dot_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// Returns at most kMostLetters bytes of a line, without half of a character.
std::string shortened(std::string line) {
  if (line.size() <= kMostLetters) return line;
  size_t end = kMostLetters;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
  return line.substr(0, end) + "...";
}

std::string label_of(const std::vector<std::string>& lines) {
  std::vector<std::string> escaped;
  for (const std::string& line : lines)
    if (!line.empty()) escaped.push_back(dot_escaped(shortened(line)));
  return fmt::format("label=\"{}\"", fmt::join(escaped, "\\n"));
}

std::string type_of(const DrawnGraph& graph, const std::string& value) {
  const auto found = graph.types.find(value);
  return found == graph.types.end() ? std::string() : found->second;
}

// By value, the identifier in DOT of the box or ellipse that makes it.
using Makers = std::map<std::string, std::string>;

Makers makers_of(const DrawnGraph& graph) {
  Makers makers;
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    makers[graph.inputs[i].value] = fmt::format("input{}", i);
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (const std::string& value : graph.nodes[i].outputs)
      makers[value] = fmt::format("node{}", i);
  return makers;
}

std::string boundary_line(const DrawnGraph& graph, const std::string& id,
                          const DrawnTensor& tensor) {
  return fmt::format("  {} [shape=ellipse, fillcolor=\"#eeeeee\", {}];\n", id,
                     label_of({tensor.name, type_of(graph, tensor.value)}));
}

std::string node_line(const DrawnGraph& graph, const Makers& makers, size_t index) {
  const DrawnNode& node = graph.nodes[index];
  std::vector<std::string> lines = {node.operation, node.name, node.details};
  for (const std::string& value : node.inputs)
    if (!value.empty() && !makers.contains(value)) lines.push_back(type_of(graph, value));
  return fmt::format("node{} [fillcolor=\"{}\", {}];\n", index, node.on_npu ? "#dce9f7" : "#fde3c8",
                     label_of(lines));
}

// Returns the boxes, with a frame around those of one part.
std::string node_lines(const DrawnGraph& graph, const Makers& makers) {
  std::string text, part;
  const auto close = [&] { return part.empty() ? "" : "  }\n"; };
  size_t parts = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].part != part) {
      text += close();
      part = graph.nodes[i].part;
      if (!part.empty())
        text += fmt::format("  subgraph cluster{} {{\n    {};\n", parts++, label_of({part}));
    }
    text += (part.empty() ? "  " : "    ") + node_line(graph, makers, i);
  }
  return text + close();
}

std::string edge(const DrawnGraph& graph, const Makers& makers, const std::string& value,
                 const std::string& reader) {
  const auto maker = makers.find(value);
  if (maker == makers.end()) return "";
  return fmt::format("  {} -> {} [{}];\n", maker->second, reader,
                     label_of({type_of(graph, value)}));
}

std::string edges(const DrawnGraph& graph, const Makers& makers) {
  std::string text;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (const std::string& value : graph.nodes[i].inputs)
      text += edge(graph, makers, value, fmt::format("node{}", i));
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    text += edge(graph, makers, graph.outputs[i].value, fmt::format("output{}", i));
  return text;
}

std::string key_of(graph::ValueId id) {
  return id == graph::kNoValue ? std::string() : std::to_string(id);
}

std::vector<std::string> keys_of(const std::vector<graph::ValueId>& ids) {
  std::vector<std::string> keys;
  for (const graph::ValueId id : ids) keys.push_back(key_of(id));
  return keys;
}

DrawnGraph drawn_static(const graph::CompiledModel& model) {
  DrawnGraph drawn;
  for (size_t i = 0; i < model.graph.values.size(); ++i) {
    const graph::Value& value = model.graph.values[i];
    drawn.types[std::to_string(i)] =
        fmt::format("{} {}", tensor::to_string(value.type), graph::to_string(value.shape));
  }
  for (const graph::Boundary& input : model.inputs)
    drawn.inputs.push_back({key_of(input.value), input.cpu.name});
  for (const graph::Boundary& output : model.outputs)
    drawn.outputs.push_back({key_of(output.value), output.cpu.name});
  for (size_t p = 0; p < model.partitions.size(); ++p) {
    const graph::Partition& partition = model.partitions[p];
    const bool framed = model.partitions.size() > 1;
    for (uint32_t i = partition.first; i < partition.first + partition.count; ++i) {
      const graph::Node& node = model.graph.nodes[i];
      drawn.nodes.push_back(
          {.operation = operation_name(node.op),
           .name = node.name,
           .details = attributes_text(node.op),
           .inputs = keys_of(node.inputs),
           .outputs = keys_of(node.outputs),
           .part = framed ? fmt::format("{} {}", graph::name_of(partition.kind), p) : "",
           .on_npu = partition.kind == graph::PartitionKind::kNpu});
    }
  }
  return drawn;
}

std::string declared_type(const network::Input& value) {
  std::string text(tensor::to_string(value.type));
  if (!value.has_shape) return text;
  std::vector<std::string> dims;
  for (const network::Dimension& dim : value.shape)
    dims.push_back(dim.size != network::Dimension::kOpen ? std::to_string(dim.size)
                   : dim.symbol.empty()                  ? "?"
                                                         : dim.symbol);
  return fmt::format("{} [{}]", text, fmt::join(dims, ","));
}

std::string subgraphs_of(const network::Node& node) {
  const auto is_graph = [](const network::Attribute& attribute) {
    return std::holds_alternative<std::shared_ptr<const network::Network>>(attribute.value);
  };
  const auto count = std::ranges::count_if(node.attributes, is_graph);
  return count == 0 ? "" : fmt::format("{} graphs inside", count);
}

DrawnGraph drawn_network(const network::Network& network) {
  DrawnGraph drawn;
  for (const network::Input& input : network.inputs) {
    drawn.inputs.push_back({input.name, input.name});
    drawn.types[input.name] = declared_type(input);
  }
  for (const network::Output& output : network.outputs) {
    drawn.outputs.push_back({output.name, output.name});
    drawn.types[output.name] = declared_type(output);
  }
  for (const graph::Value& value : network.initializers)
    drawn.types[value.name] =
        fmt::format("{} {}", tensor::to_string(value.type), graph::to_string(value.shape));
  for (const network::Node& node : network.nodes)
    drawn.nodes.push_back(
        {.operation = node.domain.empty() ? node.type : node.domain + "." + node.type,
         .name = node.name,
         .details = subgraphs_of(node),
         .inputs = node.inputs,
         .outputs = node.outputs,
         .part = ""});
  return drawn;
}

}  // namespace

DrawnGraph drawn_graph(const graph::CompiledModel& model) {
  DrawnGraph drawn = model.network == nullptr ? drawn_static(model) : drawn_network(*model.network);
  drawn.name = model.name;
  return drawn;
}

std::string dot_text(const DrawnGraph& graph) {
  const Makers makers = makers_of(graph);
  std::string text = fmt::format("digraph \"{}\" {{\n", dot_escaped(graph.name)) +
                     "  node [shape=box, style=filled, fontname=\"Helvetica\", fontsize=10];\n"
                     "  edge [fontname=\"Helvetica\", fontsize=8];\n";
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    text += boundary_line(graph, fmt::format("input{}", i), graph.inputs[i]);
  text += node_lines(graph, makers);
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    text += boundary_line(graph, fmt::format("output{}", i), graph.outputs[i]);
  return text + edges(graph, makers) + "}\n";
}

}  // namespace millrace::cli
