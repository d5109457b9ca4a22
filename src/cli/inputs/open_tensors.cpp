#include "cli/inputs/open_tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/shell_word.h"
#include "cli/inputs/input_files.h"
#include "cli/name_value.h"
#include "tensor/tensor_shape.h"

namespace millrace::cli {

namespace {

// Parses NAME=1,3,64,64 and adds the shape.
Status add_shape(const graph::CompiledModel& model, const std::string& argument,
                 GivenShapes* shapes) {
  MILLRACE_ASSIGN_OR_RETURN(const NameValue entry, split_name_value(argument));
  const auto input = std::ranges::find(model.inputs, entry.name,
                                       [](const graph::Boundary& i) { return i.cpu.name; });
  if (input == model.inputs.end()) return no_such_input(model, entry.name).with_context(argument);
  const std::vector<uint32_t> shape = parse_numbers<uint32_t>(entry.value, 0);
  if (shape.empty() || !can_have(*input, shape))
    return invalid_argument(
        fmt::format("{}: the input's shape is {}", argument, tensor::to_string(input->cpu.shape)));
  if (!shapes->emplace(entry.name, shape).second)
    return invalid_argument(fmt::format("input '{}' is given two shapes", entry.name));
  return {};
}

// Returns the shapes of all inputs: those given for open ones, the model's for others.
Result<std::vector<std::vector<uint32_t>>> profile_shapes(const graph::CompiledModel& model,
                                                          const GivenShapes& given) {
  std::vector<std::vector<uint32_t>> shapes;
  for (const graph::Boundary& input : model.inputs) {
    const auto shape = given.find(input.cpu.name);
    if (input.open && shape == given.end())
      return invalid_argument(fmt::format("no shape for input '{}' {}", input.cpu.name,
                                          tensor::to_string(input.cpu.shape)));
    shapes.push_back(input.open ? shape->second : input.cpu.shape);
  }
  return shapes;
}

// Returns the shape with a usual size for each open dimension: one frame, pictures of 224 x 224,
// and sequences of 128.
std::vector<uint32_t> usual_shape(std::vector<uint32_t> shape) {
  constexpr uint32_t kPictureSide = 224, kSequence = 128;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != kOpenDimension) continue;
    const bool is_picture = shape.size() == 4;
    shape[i] = i == 0 ? 1 : is_picture ? (i == 1 ? 3 : kPictureSide) : kSequence;
  }
  return shape.empty() ? std::vector<uint32_t>{1} : shape;
}

}  // namespace

Result<GivenShapes> parse_shapes(const graph::CompiledModel& model,
                                 const std::vector<std::string>& arguments) {
  GivenShapes shapes;
  for (const std::string& argument : arguments)
    MILLRACE_RETURN_IF_ERROR(add_shape(model, argument, &shapes).with_context("--shape"));
  return shapes;
}

Result<graph::ShapeProfile> parse_profile(const graph::CompiledModel& model,
                                          const std::string& argument) {
  const size_t colon = argument.find(':');
  if (colon == 0 || colon == std::string::npos)
    return invalid_argument(
        fmt::format("--profile {}: write it like NAME:x=1,3,224,224;y=1,10", argument));
  const auto parse = [&]() -> Result<graph::ShapeProfile> {
    GivenShapes shapes;
    std::istringstream entries(argument.substr(colon + 1));
    for (std::string entry; std::getline(entries, entry, ';');)
      MILLRACE_RETURN_IF_ERROR(add_shape(model, entry, &shapes));
    MILLRACE_ASSIGN_OR_RETURN(auto of_inputs, profile_shapes(model, shapes));
    return graph::ShapeProfile{argument.substr(0, colon), std::move(of_inputs)};
  };
  Result<graph::ShapeProfile> profile = parse();
  if (!profile.ok()) return profile.status().with_context("--profile");
  return profile;
}

graph::Boundary settled(const graph::Boundary& boundary, std::vector<uint32_t> shape) {
  graph::Boundary result = boundary;
  if (!boundary.open) return result;
  result.cpu = tensor::make_cpu_desc(boundary.cpu.name, boundary.cpu.type, std::move(shape));
  result.open = false;
  return result;
}

bool can_have(const graph::Boundary& boundary, const std::vector<uint32_t>& shape) {
  if (shape.size() > TensorShape::kMaxRank) return false;
  const TensorShape given = tensor::shape_of(shape);
  const bool any_rank = boundary.open && boundary.cpu.shape.empty();
  return any_rank ? tensor::is_complete(given) : tensor::fits(given, boundary.cpu.shape);
}

Result<std::vector<graph::Boundary>> settled_inputs(const graph::CompiledModel& model,
                                                    const GivenShapes& shapes) {
  std::vector<graph::Boundary> inputs, missing;
  for (const graph::Boundary& input : model.inputs) {
    const auto given = shapes.find(input.cpu.name);
    if (input.open && given == shapes.end())
      missing.push_back(input);
    else
      inputs.push_back(input.open ? settled(input, given->second) : input);
  }
  if (!missing.empty()) return shapes_missing(missing);
  return inputs;
}

Status shapes_missing(const std::vector<graph::Boundary>& inputs, const char* option) {
  std::vector<std::string> open, options;
  for (const graph::Boundary& input : inputs) {
    if (!input.open) continue;
    open.push_back(
        fmt::format("'{}' {}", input.cpu.name,
                    input.cpu.shape.empty() ? "of any rank" : tensor::to_string(input.cpu.shape)));
    options.push_back(fmt::format("{} {}={}", option, shell_word(input.cpu.name),
                                  fmt::join(usual_shape(input.cpu.shape), ",")));
  }
  return invalid_argument(
      fmt::format("the shapes of these inputs are open: {}; set them, as with {}",
                  fmt::join(open, ", "), fmt::join(options, " ")));
}

Status check_shape_texts(const char* option, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    const Result<NameValue> entry = split_name_value(argument);
    if (!entry.ok()) return entry.status().with_context(option);
    if (parse_numbers<uint32_t>(entry->value, 0).empty())
      return invalid_argument(fmt::format("{}: '{}' is not a shape; write it like NAME=1,3,480,640",
                                          option, entry->value));
  }
  return {};
}

}  // namespace millrace::cli
