// The builder's handling of locations: those of each value, and those in tensors of the caller.
#include <algorithm>

#include "device/cpu/builder/boundary.h"
#include "device/cpu/builder/builder.h"

namespace millrace::device::cpu {

using graph::ValueId;

Dims Builder::dims(ValueId id) const {
  const Dims& shape = value(id).shape;
  return shape.empty() ? Dims{1} : shape;
}

Desc Builder::plain_layout(ValueId id) const {
  if (is_empty(id)) return bytes_desc(0);
  return is_floating(id) ? plain_desc(dims(id), type()) : bytes_desc(value(id).bytes());
}

size_t Builder::element_size(ValueId id) const {
  return is_floating(id) ? dnnl::memory::data_type_size(type()) : tensor::size_of(value(id).type);
}

Status Builder::ensure_location(ValueId id, const Desc& preferred) {
  if (!locations(id).empty()) return {};
  if (is_empty(id)) {
    set_result(id, new_temporary(plain_layout(id)));
    return {};
  }
  if (is_quantised(id) && !is_constant(id)) return dequantise(id);
  if (is_constant(id)) {
    const graph::Constant& constant = *value(id).constant;
    if (is_floating(id))
      locations(id).push_back(pack(id, plain_layout(id), {}));
    else
      locations(id).push_back({refer_to(constant.bytes), plain_layout(id)});
    return {};
  }
  const Desc wanted = on_cpu() ? plain_layout(id) : preferred;
  if (!values_[id].input) return bring_over(id, wanted);
  MILLRACE_ASSIGN_OR_RETURN(Operand location, bind_input(*this, *values_[id].input, wanted));
  set_result(id, location);
  return {};
}

// Copies the value from another domain: from FP32 if it is there, since BF16 has been rounded.
Status Builder::bring_over(ValueId id, const Desc& wanted) {
  const Operand* from = nullptr;
  for (const Domain domain : {Domain::kNpuFp32, Domain::kCpu, Domain::kNpuBf16}) {
    for (const Operand& location : values_[id].locations[static_cast<size_t>(domain)]) {
      if (from == nullptr) from = &location;
      if (!(location.desc == wanted)) continue;
      locations(id).push_back(location);
      return {};
    }
  }
  if (from == nullptr) return internal_error("a value is used before it is made");
  set_result(id, reordered(id, *from, wanted));
  return {};
}

Result<Operand> Builder::current(ValueId id) {
  if (is_quantised(id) && !is_floating(id)) return integers(id);
  MILLRACE_RETURN_IF_ERROR(ensure_location(id, plain_layout(id)));
  return locations(id).front();
}

Result<Operand> Builder::in_layout(ValueId id, const Desc& wanted) {
  if (is_empty(id) || (is_quantised(id) && !is_floating(id))) return current(id);
  if (is_constant(id) && is_floating(id)) return packed(id, wanted);
  MILLRACE_RETURN_IF_ERROR(ensure_location(id, wanted));
  for (const Operand& location : locations(id))
    if (location.desc == wanted) return location;
  const Operand copy = reordered(id, locations(id).front(), wanted);
  set_result(id, copy);
  return copy;
}

Operand Builder::new_result(ValueId id, const Desc& desc) {
  const Operand result = new_temporary(desc);
  set_result(id, result);
  return result;
}

void Builder::set_result(ValueId id, const Operand& location) {
  if (is_quantised(id) && !is_floating(id) && !is_empty(id))
    return set_stored_result(id, {location.buffer, plain_stored_form(id)});
  locations(id).push_back(location);
  buffers_.add_value(location.buffer, id);
}

bool Builder::may_overwrite(ValueId id, const Operand& location) {
  if (!buffers_.is_own(location.buffer) || start_of(location.desc) != 0) return false;
  if (std::ranges::count(model_.graph.nodes[node_].inputs, id) != 1) return false;
  // No later node reads a value again whose last reader has been lowered. Dropping it here keeps
  // the list short when many nodes in turn write over one buffer.
  std::vector<ValueId>& values = buffers_.values_with(location.buffer);
  std::erase_if(values, [&](ValueId other) { return values_[other].last_use < node_; });
  return std::ranges::all_of(
      values, [&](ValueId other) { return other == id && values_[other].last_use == node_; });
}

Operand Builder::new_result_over(ValueId result, const Desc& desc, ValueId id,
                                 const Operand& location) {
  if (!(location.desc == desc) || !may_overwrite(id, location)) return new_result(result, desc);
  set_result(result, location);
  return location;
}

// Delivers the outputs that the current partition makes.
Status Builder::deliver_outputs() {
  const auto [kind, first, count] = partition();
  for (uint32_t i = 0; i < model_.outputs.size(); ++i) {
    const uint32_t maker = values_[model_.outputs[i].value].maker;
    if (maker < first || maker - first >= count) continue;
    domain_ = domain_of(maker);
    MILLRACE_RETURN_IF_ERROR(deliver_output(*this, i));
  }
  return {};
}

}  // namespace millrace::device::cpu
