// check_dynamic(): a model with a network has open shapes, so it has neither a graph nor HW views.
// Its inputs and outputs must agree in order, name and type with the declarations of the network.
// The dimensions of inputs must agree, too, except that a dimension which the network leaves open
// may be fixed. Each shape profile must fit all inputs.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "graph/archive/check.h"
#include "graph/network/check.h"
#include "graph/network/network.h"
#include "graph/shape.h"
#include "tensor/tensor_shape.h"

namespace millrace::graph {
namespace {

Status check_static_parts(const CompiledModel& model) {
  const bool empty = model.graph.values.empty() && model.graph.nodes.empty() &&
                     model.partitions.empty() && model.plan.empty() && model.arena_bytes == 0;
  return empty ? Status() : corrupt_data("it has both a network and a graph");
}

// The CPU view must be the one that follows from the type and the dimensions, which may be open.
Status check_view(const Boundary& boundary) {
  const tensor::TensorDesc& cpu = boundary.cpu;
  if (boundary.hw || boundary.requantised)
    return corrupt_data("it has an HW view, which requires static dimensions");
  if (boundary.value != kNoValue) return corrupt_data("it refers to a value of a graph");
  if (tensor::size_of(cpu.type) == 0) return corrupt_data("no known type");
  Dims fixed;
  for (const uint32_t dim : cpu.shape) fixed.push_back(dim == kOpenDimension ? 1 : dim);
  if (Status status = check_shape(fixed); !status.ok()) return corrupt_data(status.message());
  if (cpu == tensor::make_cpu_desc(cpu.name, cpu.type, cpu.shape)) return {};
  return corrupt_data("its CPU view does not follow from its type and shape");
}

Status check_openness(const Boundary& boundary) {
  const bool some = std::ranges::count(boundary.cpu.shape, kOpenDimension) > 0;
  // Without dimensions, an open input or output has any rank; otherwise it is a scalar.
  if (boundary.open == some || boundary.cpu.shape.empty()) return {};
  return corrupt_data(some ? "it has open dimensions, but is not marked as open"
                           : "it is marked as open, but none of its dimensions is");
}

// Compares name and type with the declaration, which may leave the type open.
Status check_declared(const Boundary& boundary, const network::Input& declared) {
  if (boundary.cpu.name != declared.name) {
    return corrupt_data(fmt::format("the network declares '{}' there", declared.name));
  }
  if (declared.type != tensor::DataType::kUnknown && declared.type != boundary.cpu.type) {
    return corrupt_data(fmt::format("the network declares it as {}, not {}",
                                    tensor::to_string(declared.type),
                                    tensor::to_string(boundary.cpu.type)));
  }
  return {};
}

// Compares the shape of an input with its declaration. An open dimension of the declaration may be
// fixed in the model, but not the other way round.
Status check_declared_shape(const Boundary& boundary, const network::Input& declared) {
  const std::vector<uint32_t>& shape = boundary.cpu.shape;
  if (!declared.has_shape) return {};
  const bool any_rank = boundary.open && shape.empty();
  bool same = !any_rank && declared.shape.size() == shape.size();
  for (size_t i = 0; same && i < shape.size(); ++i) {
    const int64_t size = declared.shape[i].size;
    same = size == network::Dimension::kOpen || size == int64_t{shape[i]};
  }
  return same ? Status() : corrupt_data("its shape is not the one that the network declares");
}

Status check_boundary(const Boundary& boundary, const network::Input& declared) {
  MILLRACE_RETURN_IF_ERROR(check_view(boundary));
  MILLRACE_RETURN_IF_ERROR(check_openness(boundary));
  return check_declared(boundary, declared);
}

Status check_side(const std::vector<Boundary>& boundaries,
                  const std::vector<network::Input>& declared, const char* side) {
  if (boundaries.size() != declared.size()) {
    return corrupt_data(
        fmt::format("{} {}s, but the network has {}", boundaries.size(), side, declared.size()));
  }
  for (size_t i = 0; i < boundaries.size(); ++i) {
    if (Status status = check_boundary(boundaries[i], declared[i]); !status.ok()) {
      return status.with_context(fmt::format("{} '{}'", side, boundaries[i].cpu.name));
    }
  }
  return {};
}

Status check_input_shapes(const CompiledModel& model) {
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const Status status = check_declared_shape(model.inputs[i], model.network->inputs[i]);
    if (status.ok()) continue;
    return status.with_context(fmt::format("input '{}'", model.inputs[i].cpu.name));
  }
  return {};
}

// Whether `shape` is complete and fits the input. An open input without dimensions takes any shape.
bool can_have(const Boundary& input, const std::vector<uint32_t>& shape) {
  if (shape.size() > TensorShape::kMaxRank) return false;
  const TensorShape stated = tensor::shape_of(shape);
  return input.open && input.cpu.shape.empty() ? tensor::is_complete(stated)
                                               : tensor::fits(stated, input.cpu.shape);
}

Status check_profile(const ShapeProfile& profile, const CompiledModel& model) {
  if (profile.shapes.size() != model.inputs.size()) {
    return corrupt_data(
        fmt::format("{} shapes for {} inputs", profile.shapes.size(), model.inputs.size()));
  }
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    if (can_have(model.inputs[i], profile.shapes[i])) continue;
    return corrupt_data(fmt::format("input '{}' cannot have the shape {}", model.inputs[i].cpu.name,
                                    tensor::to_string(profile.shapes[i])));
  }
  return {};
}

Status check_profiles(const CompiledModel& model) {
  std::unordered_set<std::string_view> names;
  for (const ShapeProfile& profile : model.profiles) {
    if (profile.name.empty()) return corrupt_data("a profile has no name");
    if (!names.insert(profile.name).second) {
      return corrupt_data(fmt::format("two profiles are named '{}'", profile.name));
    }
    if (Status status = check_profile(profile, model); !status.ok()) {
      return status.with_context(fmt::format("profile '{}'", profile.name));
    }
  }
  return {};
}

}  // namespace

Status check_dynamic(const CompiledModel& model) {
  MILLRACE_RETURN_IF_ERROR(check_static_parts(model));
  if (Status status = network::check(*model.network); !status.ok()) {
    return corrupt_data(status.message());
  }
  MILLRACE_RETURN_IF_ERROR(check_boundary_names(model));
  MILLRACE_RETURN_IF_ERROR(check_side(model.inputs, model.network->inputs, "input"));
  MILLRACE_RETURN_IF_ERROR(check_side(model.outputs, model.network->outputs, "output"));
  MILLRACE_RETURN_IF_ERROR(check_input_shapes(model));
  return check_profiles(model);
}

}  // namespace millrace::graph
