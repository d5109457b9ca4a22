#include "lowering/loops/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lowering/node_facts.h"

namespace millrace::lowering {
namespace {

const network::Attribute* find(const network::Node& node, std::string_view name) {
  const auto found = std::ranges::find(node.attributes, name, &network::Attribute::name);
  return found == node.attributes.end() ? nullptr : &*found;
}

Result<std::vector<Walk>> read_walks(const network::Node& node, size_t count, const char* axes_name,
                                     const char* directions_name) {
  std::vector<Walk> walks(count);
  const graph::Dims* const axes = integers_of(node, axes_name);
  const graph::Dims* const directions = integers_of(node, directions_name);
  for (const auto& [list, name] : {std::pair(axes, axes_name), {directions, directions_name}}) {
    if (list != nullptr && list->size() != count)
      return invalid_argument(fmt::format(
          "its attribute '{}' has {} entries; expected one for each of {} scan inputs or outputs",
          name, list->size(), count));
  }
  for (size_t i = 0; i < count; ++i) {
    if (axes != nullptr) walks[i].axis = (*axes)[i];
    if (directions != nullptr) walks[i].backwards = (*directions)[i] != 0;
  }
  return walks;
}

}  // namespace

bool is_loop(const network::Node& node) {
  return node.domain.empty() && node.type == "Loop";
}

bool is_scan(const network::Node& node) {
  return node.domain.empty() && node.type == "Scan";
}

Result<const network::Network*> require_subgraph(const network::Node& node, std::string_view name) {
  const network::Network* const subgraph = subgraph_of(node, name);
  if (subgraph != nullptr) return subgraph;
  return invalid_argument(fmt::format("its attribute '{}' must be a subgraph", name));
}

const graph::Dims* integers_of(const network::Node& node, std::string_view name) {
  const network::Attribute* const attribute = find(node, name);
  return attribute == nullptr ? nullptr : std::get_if<graph::Dims>(&attribute->value);
}

Result<int64_t> integer_of(const network::Node& node, std::string_view name) {
  const network::Attribute* const attribute = find(node, name);
  const auto* integer = attribute == nullptr ? nullptr : std::get_if<int64_t>(&attribute->value);
  if (integer == nullptr)
    return invalid_argument(fmt::format("its attribute '{}' must be an integer", name));
  return *integer;
}

Status check_counts(const network::Network& body, size_t inputs, size_t least_outputs) {
  if (body.inputs.size() != inputs)
    return invalid_argument(
        fmt::format("its subgraph has {} inputs; expected {}", body.inputs.size(), inputs));
  if (body.outputs.size() < least_outputs)
    return invalid_argument(fmt::format("its subgraph has {} outputs; expected at least {}",
                                        body.outputs.size(), least_outputs));
  return {};
}

Result<ScanShape> read_scan(const network::Node& node, size_t operands) {
  ScanShape shape;
  MILLRACE_ASSIGN_OR_RETURN(shape.body, require_subgraph(node, "body"));
  MILLRACE_ASSIGN_OR_RETURN(const int64_t sequences, integer_of(node, "num_scan_inputs"));
  if (sequences < 1 || static_cast<uint64_t>(sequences) > operands)
    return invalid_argument(
        fmt::format("it has {} operands, but num_scan_inputs is {}", operands, sequences));
  shape.states = operands - static_cast<size_t>(sequences);
  MILLRACE_RETURN_IF_ERROR(check_counts(*shape.body, operands, shape.states));
  const char* const input_directions =
      integers_of(node, "directions") != nullptr ? "directions" : "scan_input_directions";
  MILLRACE_ASSIGN_OR_RETURN(shape.inputs, read_walks(node, static_cast<size_t>(sequences),
                                                     "scan_input_axes", input_directions));
  MILLRACE_ASSIGN_OR_RETURN(
      shape.outputs, read_walks(node, shape.body->outputs.size() - shape.states, "scan_output_axes",
                                "scan_output_directions"));
  return shape;
}

}  // namespace millrace::lowering
