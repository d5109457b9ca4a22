// The builder's handling of quantised values: it keeps their integers, and dequantises copies for
// floating point kernels.
#include "device/cpu/builder/boundary.h"
#include "device/cpu/builder/builder.h"
#include "device/cpu/builder/requantise.h"

namespace millrace::device::cpu {

using graph::ValueId;

ElementType Builder::stored_type(ValueId id) const {
  switch (value(id).type) {
    case tensor::DataType::kInt8:
      return ElementType::s8;
    case tensor::DataType::kUint8:
      return ElementType::u8;
    default:
      return ElementType::s32;
  }
}

Desc Builder::plain_stored_form(ValueId id) const {
  return plain_desc(dims(id), stored_type(id));
}

Status Builder::ensure_stored(ValueId id) {
  if (!values_[id].stored.empty()) return {};
  if (is_constant(id)) {
    values_[id].stored.push_back({refer_to(value(id).constant->bytes), plain_stored_form(id)});
    return {};
  }
  if (!values_[id].input) return internal_error("a quantised value is used before it is made");
  MILLRACE_ASSIGN_OR_RETURN(const Operand location,
                            bind_input(*this, *values_[id].input, plain_stored_form(id)));
  set_stored_result(id, location);
  return {};
}

Result<Operand> Builder::stored(ValueId id) {
  MILLRACE_RETURN_IF_ERROR(ensure_stored(id));
  return values_[id].stored.front();
}

Result<Operand> Builder::stored_in(ValueId id, const Desc& wanted) {
  MILLRACE_RETURN_IF_ERROR(ensure_stored(id));
  for (const Operand& location : values_[id].stored)
    if (location.desc == wanted) return location;
  const Operand from = values_[id].stored.front();
  if (is_constant(id)) {
    values_[id].stored.push_back(pack_later(id, from.desc, wanted));
    return values_[id].stored.back();
  }
  const Operand copy = reordered(id, from, wanted);
  set_stored_result(id, copy);
  return copy;
}

Operand Builder::new_stored_result(ValueId id, const Desc& desc) {
  const Operand result = new_temporary(desc);
  set_stored_result(id, result);
  return result;
}

void Builder::set_stored_result(ValueId id, const Operand& location) {
  values_[id].stored.push_back(location);
  buffers_.add_value(location.buffer, id);
}

// Returns the integers in C order, for nodes that read the integers themselves.
Result<Operand> Builder::integers(ValueId id) {
  if (is_empty(id)) return Operand{new_temporary(plain_layout(id)).buffer, plain_layout(id)};
  MILLRACE_ASSIGN_OR_RETURN(const Operand plain, stored_in(id, plain_stored_form(id)));
  return Operand{plain.buffer, plain_layout(id)};
}

// Whether a quantised value is converted in plain form, instead of in its present layout:
// parameters per index go along one dimension of the plain form, and padding is no zeros once it is
// dequantised.
bool Builder::needs_plain_layout(ValueId id, const Desc& desc) const {
  return quantisation(id).is_per_axis() || has_padding(desc) || !is_dense(desc);
}

// Makes a floating point location from the integers.
Status Builder::dequantise(ValueId id) {
  MILLRACE_ASSIGN_OR_RETURN(Operand from, stored(id));
  if (needs_plain_layout(id, from.desc)) {
    MILLRACE_ASSIGN_OR_RETURN(from, stored_in(id, plain_stored_form(id)));
  }
  Operand numbers = new_temporary(with_type(from.desc, ElementType::f32));
  MILLRACE_RETURN_IF_ERROR(add_dequantise(*this, id, from, numbers));
  if (type() != ElementType::f32) numbers = reordered(id, numbers, with_type(from.desc, type()));
  set_result(id, numbers);
  return {};
}

// Quantises the floating point result of a kernel. Later readers get the rounded values.
Status Builder::quantise_result(ValueId id) {
  if (is_empty(id) || !values_[id].stored.empty()) return {};
  Operand from = locations(id).front();
  if (needs_plain_layout(id, from.desc)) {
    MILLRACE_ASSIGN_OR_RETURN(from, plain(id));
  }
  if (from.desc.data_type() != ElementType::f32)
    from = reordered(id, from, with_type(from.desc, ElementType::f32));
  const Operand to = new_temporary(with_type(from.desc, stored_type(id)));
  MILLRACE_RETURN_IF_ERROR(add_quantise(*this, id, from, to));
  locations(id).clear();
  set_stored_result(id, to);
  return {};
}

}  // namespace millrace::device::cpu
