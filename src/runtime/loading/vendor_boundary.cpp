#include "runtime/loading/vendor_boundary.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::runtime {
namespace {

Status check(const char* kind, const graph::Boundary& tensor) {
  const auto& shape = tensor.cpu.shape;
  const bool empty = std::ranges::find(shape, 0u) != shape.end();
  if (!empty && tensor.cpu.type != tensor::DataType::kFloat64) return {};
  return unsupported(fmt::format("{} \"{}\" {}, which this API cannot describe: use the native API",
                                 kind, tensor.cpu.name, empty ? "has no elements" : "is FLOAT64"));
}

}  // namespace

Status check_vendor_boundary(const graph::CompiledModel& model) {
  for (const graph::Boundary& input : model.inputs) MILLRACE_RETURN_IF_ERROR(check("input", input));
  for (const graph::Boundary& output : model.outputs)
    MILLRACE_RETURN_IF_ERROR(check("output", output));
  return {};
}

}  // namespace millrace::runtime
