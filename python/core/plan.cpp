#include "core/plan.h"

#include <algorithm>

#include "core/raise.h"

namespace millrace::python {
namespace {

// Memory of open outputs before the first result is known.
constexpr size_t kFirstCapacity = 4096;

int numpy_type(DataType type) noexcept {
  switch (type) {
    case DataType::kBoolean:
      return NPY_BOOL;
    case DataType::kInt8:
      return NPY_INT8;
    case DataType::kUint8:
      return NPY_UINT8;
    case DataType::kInt16:
      return NPY_INT16;
    case DataType::kUint16:
      return NPY_UINT16;
    case DataType::kBf16:
      return NPY_UINT16;
    case DataType::kFp16:
      return NPY_FLOAT16;
    case DataType::kInt32:
      return NPY_INT32;
    case DataType::kUint32:
      return NPY_UINT32;
    case DataType::kFloat32:
      return NPY_FLOAT32;
    case DataType::kInt64:
      return NPY_INT64;
    case DataType::kUint64:
      return NPY_UINT64;
    case DataType::kFloat64:
      return NPY_FLOAT64;
    case DataType::kUnknown:
      break;
  }
  return NPY_UINT8;
}

Dimensions dimensions_of(const ViewInfo& info) {
  Dimensions shape;
  for (const uint32_t size : info.shape)
    shape.push_back(size == kOpenDimension ? -1 : static_cast<npy_intp>(size));
  return shape;
}

std::vector<TensorPlan> plans_of(std::span<const TensorInfo> infos) {
  return {infos.begin(), infos.end()};
}

}  // namespace

py::object dtype_of(DataType type) {
  return owned(reinterpret_cast<PyObject*>(PyArray_DescrFromType(numpy_type(type))));
}

ViewPlan::ViewPlan(View which, const ViewInfo& info)
    : view(which),
      type(info.type),
      dtype(dtype_of(info.type)),
      item_bytes(std::max<size_t>(size_of(info.type), 1)),
      shape(dimensions_of(info)),
      bytes(info.bytes),
      any_rank(info.is_open && info.shape.empty()) {}

Dimensions ViewPlan::shape_of(uint32_t frames) const {
  Dimensions result = shape;
  if (frames != 1 && result.empty())
    result.push_back(static_cast<npy_intp>(frames));
  else if (frames != 1)
    result[0] *= frames;
  return result;
}

TensorPlan::TensorPlan(const TensorInfo& info)
    : name(info.name), key(info.name), cpu(View::kCpu, info.cpu), open(info.cpu.is_open) {
  if (info.hw) hw.emplace(View::kHw, *info.hw);
}

const ViewPlan& TensorPlan::hw_view() const {
  if (!hw) raise(invalid_argument("tensor \"" + name + "\" has no HW view: use its CPU view"));
  return *hw;
}

ModelPlan::ModelPlan(const Model& model)
    : inputs(plans_of(model.inputs())),
      outputs(plans_of(model.outputs())),
      batch_size(model.batch_size()),
      open(false),
      capacities(outputs.size(), kFirstCapacity) {
  const auto is_open = [](const TensorPlan& tensor) { return tensor.open; };
  open = std::ranges::any_of(inputs, is_open) || std::ranges::any_of(outputs, is_open);
}

std::string text_of(std::span<const npy_intp> shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) text += ", ";
    text += shape[i] < 0 ? std::string("None") : std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::string names_of(const std::vector<TensorPlan>& tensors) {
  std::string text;
  for (const TensorPlan& tensor : tensors) {
    if (!text.empty()) text += ", ";
    text += '"' + tensor.name + '"';
  }
  return text.empty() ? "none" : text;
}

}  // namespace millrace::python
