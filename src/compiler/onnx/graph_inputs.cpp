#include "compiler/onnx/graph_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "compiler/onnx/tensor_reader.h"
#include "graph/shape.h"

namespace millrace::compiler {
namespace {

using graph::Dims;
using Symbols = std::unordered_map<std::string, int64_t>;
using Dimension = ::onnx::TensorShapeProto::Dimension;

// Descriptions of tensors count dimensions in 32 bits.
constexpr int64_t kMaxDimension = std::numeric_limits<int32_t>::max();

bool is_fixed(const Dimension& dim) {
  return dim.has_dim_value() && dim.dim_value() > 0;
}

bool is_empty(const Dimension& dim) {
  return dim.has_dim_value() && dim.dim_value() == 0;
}

std::string text_of(const Dimension& dim) {
  if (is_fixed(dim) || is_empty(dim)) return std::to_string(dim.dim_value());
  return dim.dim_param().empty() ? "?" : dim.dim_param();
}

// "batch,3,height,width", as the model states it.
std::string text_of(const ::onnx::TensorShapeProto& shape) {
  std::vector<std::string> dims;
  for (const Dimension& dim : shape.dim()) dims.push_back(text_of(dim));
  return fmt::format("{}", fmt::join(dims, ","));
}

const ::onnx::TensorShapeProto* declared_shape(const ::onnx::ValueInfoProto& input) {
  const auto& type = input.type().tensor_type();
  return type.has_shape() ? &type.shape() : nullptr;
}

// `given` against what the model fixes; only the leading dimension may differ from it.
Status check_given(const ::onnx::ValueInfoProto& input, const Dims& given) {
  MILLRACE_RETURN_IF_ERROR(graph::check_shape(given));
  const auto* declared = declared_shape(input);
  if (declared == nullptr) return {};
  bool fits = declared->dim_size() == static_cast<int>(given.size());
  for (int d = 1; fits && d < declared->dim_size(); ++d) {
    fits = !is_fixed(declared->dim(d)) ||
           declared->dim(d).dim_value() == given[static_cast<size_t>(d)];
  }
  if (fits) return {};
  return invalid_argument(fmt::format("the given shape {} does not fit the model's [{}]",
                                      graph::to_string(given), text_of(*declared)));
}

Status bind_symbols(const ::onnx::ValueInfoProto& input, const Dims& given, Symbols* symbols) {
  const auto* declared = declared_shape(input);
  if (declared == nullptr) return {};
  for (int d = 0; d < declared->dim_size(); ++d) {
    const std::string& symbol = declared->dim(d).dim_param();
    if (is_fixed(declared->dim(d)) || symbol.empty()) continue;
    const int64_t size = given[static_cast<size_t>(d)];
    const auto [bound, is_new] = symbols->emplace(symbol, size);
    if (!is_new && bound->second != size) {
      return invalid_argument(fmt::format("the given shapes set the dimension '{}' to {} and to {}",
                                          symbol, bound->second, size));
    }
  }
  return {};
}

// A size to show where the user has to choose one.
constexpr int64_t kExample = 8;

// The size of dimension `d`, or 0 where nothing settles it.
int64_t settle(const Dimension& dim, int d, const Symbols& symbols) {
  if (is_fixed(dim)) return dim.dim_value();
  const auto bound = symbols.find(dim.dim_param());
  if (!dim.dim_param().empty() && bound != symbols.end()) return bound->second;
  return d == 0 && !is_empty(dim) ? 1 : 0;
}

Result<Dims> settle_shape(const ::onnx::ValueInfoProto& input, const Symbols& symbols) {
  const auto* declared = declared_shape(input);
  if (declared == nullptr) {
    return invalid_argument(fmt::format(
        "the model does not state its shape; give it, for example with --input-shape {}=1,{}",
        input.name(), kExample));
  }
  Dims shape;
  std::vector<std::string> wanted;
  bool open = false;
  for (int d = 0; d < declared->dim_size(); ++d) {
    const int64_t size = settle(declared->dim(d), d, symbols);
    shape.push_back(size);
    wanted.push_back(std::to_string(size != 0 ? size : d == 0 ? 1 : kExample));
    open = open || size == 0;
  }
  if (!open) return shape;
  if (std::ranges::any_of(declared->dim(), is_empty)) {
    return unsupported(fmt::format(
        "its shape [{}] is empty; where 0 stands for any size, fix it, for example with "
        "--input-shape {}={}",
        text_of(*declared), input.name(), fmt::join(wanted, ",")));
  }
  return invalid_argument(fmt::format(
      "its shape [{}] has open dimensions; fix them, for example with --input-shape {}={}",
      text_of(*declared), input.name(), fmt::join(wanted, ",")));
}

Result<InputDeclaration> resolve(const ::onnx::ValueInfoProto& input, const InputShapes& given,
                                 const Symbols& symbols) {
  if (!input.type().has_tensor_type()) return unsupported("it is not a tensor");
  InputDeclaration result{input.name(), {}, {}};
  MILLRACE_ASSIGN_OR_RETURN(result.type, boundary_type(input.type().tensor_type().elem_type()));
  const auto entry = given.find(input.name());
  if (entry != given.end()) {
    result.shape = entry->second;
  } else {
    MILLRACE_ASSIGN_OR_RETURN(result.shape, settle_shape(input, symbols));
  }
  MILLRACE_RETURN_IF_ERROR(graph::check_shape(result.shape));
  for (const int64_t dim : result.shape) {
    if (dim > kMaxDimension) {
      return unsupported(fmt::format("dimension {} is above the limit of {}", dim, kMaxDimension));
    }
  }
  return result;
}

Status check_names(const std::vector<const ::onnx::ValueInfoProto*>& inputs,
                   const InputShapes& input_shapes) {
  std::vector<std::string> names;
  for (const auto* input : inputs) names.push_back("'" + input->name() + "'");
  for (const auto& [name, shape] : input_shapes) {
    if (std::find(names.begin(), names.end(), "'" + name + "'") == names.end()) {
      return invalid_argument(
          fmt::format("a shape is given for '{}', but the model's inputs are {}", name,
                      fmt::join(names, ", ")));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<InputDeclaration>> resolve_inputs(
    const ::onnx::GraphProto& graph, const std::unordered_set<std::string>& initializers,
    const InputShapes& input_shapes) {
  std::vector<const ::onnx::ValueInfoProto*> inputs;
  for (const auto& input : graph.input()) {
    if (!initializers.contains(input.name())) inputs.push_back(&input);
  }
  MILLRACE_RETURN_IF_ERROR(check_names(inputs, input_shapes));
  Symbols symbols;
  for (const auto* input : inputs) {
    const auto given = input_shapes.find(input->name());
    if (given == input_shapes.end()) continue;
    const std::string context = fmt::format("input '{}'", input->name());
    MILLRACE_RETURN_IF_ERROR(check_given(*input, given->second).with_context(context));
    MILLRACE_RETURN_IF_ERROR(bind_symbols(*input, given->second, &symbols).with_context(context));
  }
  std::vector<InputDeclaration> declarations;
  for (const auto* input : inputs) {
    Result<InputDeclaration> resolved = resolve(*input, input_shapes, symbols);
    if (!resolved.ok()) {
      return resolved.status().with_context(fmt::format("input '{}'", input->name()));
    }
    declarations.push_back(*std::move(resolved));
  }
  return declarations;
}

}  // namespace millrace::compiler
