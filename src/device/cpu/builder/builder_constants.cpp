// The builder's handling of constants: it packs weights into the layouts that kernels ask for.
#include <algorithm>
#include <utility>

#include "device/cpu/builder/builder.h"
#include "device/cpu/dnnl/reorder.h"
#include "device/cpu/weights/constant_numbers.h"

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
    return reordered(id, from, wanted);
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
  if (constant.type == DataType::kFp16 || constant.quantisation)
    return pack_later(id, stored_desc(wanted.dims(), ElementType::f32, stored), wanted);
  const ElementType type = constant.type == DataType::kBf16 ? ElementType::bf16 : ElementType::f32;
  const Desc from = stored_desc(wanted.dims(), type, stored);
  if (from == wanted) return {refer_to(constant.constant->bytes), wanted};
  return pack_later(id, from, wanted);
}

Operand Builder::pack_later(ValueId id, const Desc& from, const Desc& wanted) {
  const BufferId buffer = buffers_.add_constant(nullptr, wanted.get_size());
  parts_.packing.add(value(id), from, wanted, buffer);
  parts_.weight_bytes += wanted.get_size();
  return {buffer, wanted};
}

BufferId Builder::arranged(ValueId id, Arrangement wanted) {
  auto& arranged = values_[id].arranged;
  const auto known =
      std::ranges::find(arranged, wanted.identity, &ValueState::ArrangedBuffer::first);
  if (known != arranged.end()) return known->second;
  const BufferId buffer = buffers_.add_constant(nullptr, wanted.bytes);
  arranged.emplace_back(wanted.identity, buffer);
  parts_.weight_bytes += wanted.bytes;
  parts_.packing.add(value(id), std::move(wanted), buffer);
  return buffer;
}

Operand Builder::add_constant(const void* elements, const Desc& from, const Desc& wanted) {
  const size_t bytes = wanted.get_size();
  std::byte* const data = parts_.constants.take(bytes);
  reorder(engine_, stream_, from, elements, wanted, data);
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

std::vector<float> Builder::constant_floats(ValueId id) const {
  return constant_numbers(value(id));
}

}  // namespace millrace::device::cpu
