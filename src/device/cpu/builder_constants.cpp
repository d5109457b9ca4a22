// What the builder makes of constants: weights packed into the layouts that kernels ask for.
#include <algorithm>

#include "device/cpu/builder.h"
#include "device/cpu/quantisation_run.h"
#include "tensor/kernels.h"
#include "tensor/strided.h"

namespace millrace::device::cpu {

using graph::ValueId;
using tensor::DataType;

namespace {

Desc stored_desc(const Dims& dims, ElementType type, std::span<const uint32_t> order) {
  return order.empty() ? plain_desc(dims, type) : ordered_desc(dims, type, order);
}

}  // namespace

Result<Operand> Builder::packed(ValueId id, const Desc& wanted, std::span<const uint32_t> stored) {
  if (!is_constant(id)) {
    MILLRACE_ASSIGN_OR_RETURN(Operand from, plain(id));
    from.desc = stored_desc(wanted.dims(), type(), stored);
    if (from.desc == wanted) return from;
    const Operand copy = new_temporary(wanted);
    add_reorder(id, from, copy);
    return copy;
  }
  std::vector<PackedConstant>& packed = values_[id].packed;
  for (const PackedConstant& constant : packed)
    if (constant.location.desc == wanted && std::ranges::equal(constant.stored, stored))
      return constant.location;
  packed.push_back({pack(id, wanted, stored), {stored.begin(), stored.end()}});
  return packed.back().location;
}

Operand Builder::pack(ValueId id, const Desc& wanted, std::span<const uint32_t> stored) {
  const graph::Value& constant = value(id);
  if (constant.type == DataType::kFp16 || constant.quantisation) {
    const std::vector<float> elements = constant_floats(id);
    return add_constant(elements.data(), stored_desc(wanted.dims(), ElementType::f32, stored),
                        wanted);
  }
  const ElementType type = constant.type == DataType::kBf16 ? ElementType::bf16 : ElementType::f32;
  const Desc from = stored_desc(wanted.dims(), type, stored);
  if (from == wanted) return {refer_to(constant.constant->bytes), wanted};
  return add_constant(constant.constant->bytes.data(), from, wanted);
}

Operand Builder::add_constant(const void* elements, const Desc& from, const Desc& wanted) {
  const size_t bytes = wanted.get_size();
  std::byte* const data = parts_.constants.take(bytes);
  dnnl::memory source(from, engine_, const_cast<void*>(elements));
  dnnl::memory target(wanted, engine_, data);
  dnnl::reorder(source, target).execute(stream_, source, target);
  parts_.weight_bytes += bytes;
  return {buffers_.add_constant(data, bytes), wanted};
}

BufferId Builder::refer_to(std::span<const std::byte> bytes) {
  parts_.weight_bytes += bytes.size();
  return buffers_.add_constant(bytes.data(), bytes.size());
}

Operand Builder::add_constant(const Desc& wanted, const std::vector<float>& elements) {
  return add_constant(elements.data(), plain_desc(wanted.dims(), ElementType::f32), wanted);
}

namespace {

template <class T>
std::vector<float> dequantised_as(const graph::Value& constant) {
  const graph::Quantisation& quantisation = *constant.quantisation;
  const auto integers = constant.constant->as<T>();
  const size_t run = elements_per_run(constant);
  std::vector<float> floats(integers.size());
  for (size_t i = 0; i < floats.size(); ++i) {
    const size_t index = i / run % quantisation.scales.size();
    const int64_t steps = int64_t{integers[i]} - quantisation.zero_points[index];
    floats[i] = static_cast<float>(steps) * quantisation.scales[index];
  }
  return floats;
}

std::vector<float> dequantised(const graph::Value& constant) {
  switch (constant.type) {
    case DataType::kInt8:
      return dequantised_as<int8_t>(constant);
    case DataType::kUint8:
      return dequantised_as<uint8_t>(constant);
    default:
      return dequantised_as<int32_t>(constant);
  }
}

}  // namespace

std::vector<float> Builder::constant_floats(ValueId id) const {
  const graph::Value& constant = value(id);
  if (constant.type == DataType::kFloat32) {
    const auto elements = constant.constant->as<float>();
    return {elements.begin(), elements.end()};
  }
  if (constant.quantisation) return dequantised(constant);
  std::vector<float> floats(constant.elements());
  const std::byte* const halves = constant.constant->bytes.data();
  if (const auto widen = tensor::contiguous_kernel(constant.type, DataType::kFloat32))
    widen(halves, floats.data(), floats.size(), {});
  else
    tensor::strided_kernel(constant.type, DataType::kFloat32)(halves, 1, floats.data(), 1,
                                                              floats.size(), {});
  return floats;
}

}  // namespace millrace::device::cpu
