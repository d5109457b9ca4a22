#include "runtime/dynamic/iteration.h"

#include <fmt/format.h>

#include <algorithm>

#include "lowering/node_facts.h"

namespace millrace::runtime {
namespace {

const network::Attribute* find(const network::Node& node, std::string_view name) {
  const auto found = std::ranges::find(node.attributes, name, &network::Attribute::name);
  return found == node.attributes.end() ? nullptr : &*found;
}

}  // namespace

Result<const network::Network*> require_subgraph(const network::Node& node, std::string_view name) {
  const network::Network* const subgraph = lowering::subgraph_of(node, name);
  if (subgraph != nullptr) return subgraph;
  return invalid_argument(fmt::format("it has no subgraph as its attribute '{}'", name));
}

const graph::Dims* integers_of(const network::Node& node, std::string_view name) {
  const network::Attribute* const attribute = find(node, name);
  return attribute == nullptr ? nullptr : std::get_if<graph::Dims>(&attribute->value);
}

Result<int64_t> integer_of(const network::Node& node, std::string_view name) {
  const network::Attribute* const attribute = find(node, name);
  const auto* integer = attribute == nullptr ? nullptr : std::get_if<int64_t>(&attribute->value);
  if (integer == nullptr)
    return invalid_argument(fmt::format("it has no integer as its attribute '{}'", name));
  return *integer;
}

Status check_counts(const network::Network& body, size_t inputs, size_t least_outputs) {
  if (body.inputs.size() != inputs)
    return invalid_argument(
        fmt::format("its subgraph has {} inputs where it gives it {}", body.inputs.size(), inputs));
  if (body.outputs.size() < least_outputs)
    return invalid_argument(fmt::format("its subgraph has {} outputs where it takes at least {}",
                                        body.outputs.size(), least_outputs));
  return {};
}

Result<RunValue> join_iterations(std::vector<RunValue> parts, size_t axis,
                                 const network::Output& declared) {
  if (!parts.empty()) {
    if (axis > parts.front().shape.size())
      return invalid_argument(fmt::format("output '{}' has no dimension {}", declared.name, axis));
    return join_parts(std::move(parts), axis);
  }
  if (declared.type == tensor::DataType::kUnknown)
    return invalid_argument(fmt::format(
        "there is no iteration, and the subgraph does not state the type of '{}'", declared.name));
  graph::Dims shape;
  for (const network::Dimension& dim : declared.shape)
    shape.push_back(std::max<int64_t>(dim.size, 0));
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(std::min(axis, shape.size())), 0);
  return allocate_value(declared.type, std::move(shape));
}

}  // namespace millrace::runtime
