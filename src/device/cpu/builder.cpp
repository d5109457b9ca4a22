#include "device/cpu/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "device/cpu/boundary.h"
#include "device/cpu/kernels/kernels.h"
#include "tensor/half.h"

namespace millrace::device::cpu {

using graph::kNoValue;
using graph::ValueId;
using tensor::DataType;

Builder::Builder(const graph::CompiledModel& model, ElementType type, const dnnl::engine& engine)
    : model_(model),
      type_(type),
      engine_(engine),
      stream_(engine),
      values_(model.graph.values.size()) {
  const graph::Graph& graph = model.graph;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i)
    for (ValueId id : graph.nodes[i].inputs)
      if (id != kNoValue) values_[id].last_use = i;
  for (const graph::Boundary& output : model.outputs) values_[output.value].last_use = kForever;
  for (uint32_t i = 0; i < model.inputs.size(); ++i) values_[model.inputs[i].value].input = i;
}

Result<ProgramParts> Builder::build() {
  return guarded([this]() -> Result<ProgramParts> {
    MILLRACE_RETURN_IF_ERROR(lower_nodes());
    for (uint32_t i = 0; i < model_.outputs.size(); ++i)
      MILLRACE_RETURN_IF_ERROR(deliver_output(*this, i));
    parts_.buffers = buffers_.lay_out();
    return std::move(parts_);
  });
}

namespace {

Status lower(Builder& builder, const graph::Node& node) {
  if (builder.value(node.outputs[0]).elements() == 0)
    return unsupported("its output has no elements");
  return guarded([&] {
    return std::visit([&](const auto& op) { return kernels::lower(builder, node, op); }, node.op);
  });
}

}  // namespace

Status Builder::lower_nodes() {
  std::string missing;
  for (const graph::Node& node : model_.graph.nodes) {
    node_ = static_cast<uint32_t>(&node - model_.graph.nodes.data());
    const Status status = lower(*this, node);
    if (status.ok()) continue;
    if (status.code() != StatusCode::kUnsupported)
      return status.with_context(fmt::format("node \"{}\"", node.name));
    missing += fmt::format("{}\"{}\" ({}): {}", missing.empty() ? "" : "; ", node.name,
                           name_of(node.op), status.message());
    // Something for the nodes behind it to start from, so that they are checked too.
    new_result(node.outputs[0], plain_form(node.outputs[0]));
  }
  if (missing.empty()) return {};
  return unsupported("the CPU device has no kernel for " + missing);
}

Dims Builder::dims(ValueId id) const {
  const Dims& shape = value(id).shape;
  return shape.empty() ? Dims{1} : shape;
}

Desc Builder::plain_form(ValueId id) const {
  return is_floating(id) ? plain_desc(dims(id), type_) : bytes_desc(value(id).bytes());
}

size_t Builder::element_size(ValueId id) const {
  return is_floating(id) ? dnnl::memory::data_type_size(type_) : tensor::size_of(value(id).type);
}

Status Builder::ensure_place(ValueId id, const Desc& preferred) {
  ValueState& state = values_[id];
  if (!state.places.empty()) return {};
  if (is_constant(id)) {
    const graph::Constant& constant = *value(id).constant;
    if (is_floating(id))
      state.places.push_back(pack(id, plain_form(id), {}));
    else
      state.places.push_back({refer_to(constant.bytes), plain_form(id)});
    return {};
  }
  if (!state.input) return internal_error("a value is used before it is made");
  MILLRACE_ASSIGN_OR_RETURN(Operand place, bind_input(*this, *state.input, preferred));
  set_result(id, place);
  return {};
}

Result<Operand> Builder::current(ValueId id) {
  MILLRACE_RETURN_IF_ERROR(ensure_place(id, plain_form(id)));
  return values_[id].places.front();
}

Result<Operand> Builder::in_layout(ValueId id, const Desc& wanted) {
  if (is_constant(id) && is_floating(id)) return packed(id, wanted);
  MILLRACE_RETURN_IF_ERROR(ensure_place(id, wanted));
  for (const Operand& place : values_[id].places)
    if (place.desc == wanted) return place;
  const Operand copy = new_temporary(wanted);
  add_reorder(id, values_[id].places.front(), copy);
  set_result(id, copy);
  return copy;
}

namespace {

Desc stored_desc(const Dims& dims, ElementType type, std::span<const uint32_t> order) {
  return order.empty() ? plain_desc(dims, type) : ordered_desc(dims, type, order);
}

}  // namespace

Result<Operand> Builder::packed(ValueId id, const Desc& wanted, std::span<const uint32_t> stored) {
  if (!is_constant(id)) {
    MILLRACE_ASSIGN_OR_RETURN(Operand from, plain(id));
    from.desc = stored_desc(wanted.dims(), type_, stored);
    if (from.desc == wanted) return from;
    const Operand copy = new_temporary(wanted);
    add_reorder(id, from, copy);
    return copy;
  }
  std::vector<PackedConstant>& packed = values_[id].packed;
  for (const PackedConstant& constant : packed)
    if (constant.place.desc == wanted && std::ranges::equal(constant.stored, stored))
      return constant.place;
  packed.push_back({pack(id, wanted, stored), {stored.begin(), stored.end()}});
  return packed.back().place;
}

Operand Builder::pack(ValueId id, const Desc& wanted, std::span<const uint32_t> stored) {
  const graph::Value& constant = value(id);
  if (constant.type == DataType::kFp16) {
    const std::vector<float> elements = constant_floats(id);
    return pack(elements.data(), stored_desc(wanted.dims(), ElementType::f32, stored), wanted);
  }
  const ElementType type = constant.type == DataType::kBf16 ? ElementType::bf16 : ElementType::f32;
  const Desc from = stored_desc(wanted.dims(), type, stored);
  if (from == wanted) return {refer_to(constant.constant->bytes), wanted};
  return pack(constant.constant->bytes.data(), from, wanted);
}

Operand Builder::pack(const void* elements, const Desc& from, const Desc& wanted) {
  dnnl::memory source(from, engine_, const_cast<void*>(elements));
  dnnl::memory target(wanted, engine_);
  dnnl::reorder(source, target).execute(stream_, source, target);
  parts_.weight_bytes += wanted.get_size();
  const auto* data = static_cast<const std::byte*>(target.get_data_handle());
  parts_.owners.push_back(std::make_shared<dnnl::memory>(target));
  return {buffers_.add_constant(data, wanted.get_size()), wanted};
}

BufferId Builder::refer_to(std::span<const std::byte> bytes) {
  parts_.weight_bytes += bytes.size();
  return buffers_.add_constant(bytes.data(), bytes.size());
}

Operand Builder::add_constant(const Desc& wanted, const std::vector<float>& elements) {
  return pack(elements.data(), plain_desc(wanted.dims(), ElementType::f32), wanted);
}

std::vector<float> Builder::constant_floats(ValueId id) const {
  const graph::Value& constant = value(id);
  if (constant.type == DataType::kFloat32) {
    const auto elements = constant.constant->as<float>();
    return {elements.begin(), elements.end()};
  }
  std::vector<float> floats;
  for (uint16_t bits : constant.constant->as<uint16_t>())
    floats.push_back(constant.type == DataType::kBf16 ? tensor::bf16_to_float(bits)
                                                      : tensor::fp16_to_float(bits));
  return floats;
}

Operand Builder::new_result(ValueId id, const Desc& desc) {
  const Operand result = new_temporary(desc);
  set_result(id, result);
  return result;
}

void Builder::set_result(ValueId id, const Operand& place) {
  values_[id].places.push_back(place);
  buffers_.add_value(place.buffer, id);
}

bool Builder::may_overwrite(ValueId id, const Operand& place) const {
  if (!buffers_.is_own(place.buffer) || place.desc.data.offset0 != 0) return false;
  if (std::ranges::count(model_.graph.nodes[node_].inputs, id) != 1) return false;
  return std::ranges::all_of(buffers_.values_with(place.buffer), [&](ValueId other) {
    return values_[other].last_use < node_ || (other == id && values_[other].last_use == node_);
  });
}

Operand Builder::new_result_over(ValueId result, const Desc& desc, ValueId id,
                                 const Operand& place) {
  if (!(place.desc == desc) || !may_overwrite(id, place)) return new_result(result, desc);
  set_result(result, place);
  return place;
}

void Builder::add(std::string operation, std::string implementation,
                  std::unique_ptr<const Step> step, std::optional<ViewCondition> only_in,
                  ValueId moved) {
  const auto index = static_cast<uint32_t>(parts_.steps.size());
  for (BufferId id : step->buffers()) buffers_.touch(id, index);
  StepInfo info{{}, std::move(operation), std::move(implementation), {}};
  if (moved == kNoValue) {
    const graph::Node& node = model_.graph.nodes[node_];
    info.node = node.name;
    moved = node.outputs[0];
  }
  info.output = value(moved).name;
  parts_.steps.push_back({std::move(step), std::move(info), only_in});
}

void Builder::add_reorder(ValueId moved, const Operand& from, const Operand& to,
                          std::optional<ViewCondition> only_in) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const dnnl::reorder::primitive_desc desc(engine_, from.desc, engine_, to.desc, attributes);
  add_primitive("Reorder", desc, dnnl::reorder(desc), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}},
                only_in, moved);
}

}  // namespace millrace::device::cpu
