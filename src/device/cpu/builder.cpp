#include "device/cpu/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "device/cpu/boundary.h"
#include "device/cpu/dnnl/primitives.h"
#include "device/cpu/dnnl/reorder.h"
#include "device/cpu/kernels/channels/channels.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/movement/layout_copy.h"
#include "device/cpu/kernels/pixels/pixels.h"
#include "device/cpu/kernels/quantised/quantised.h"
#include "device/cpu/ranks/overlap.h"
#include "graph/capability.h"
#include "graph/collective.h"

namespace millrace::device::cpu {

using graph::kNoValue;
using graph::ValueId;

Builder::Builder(const graph::CompiledModel& model, Choices choices, const dnnl::engine& engine)
    : model_(model),
      choices_(std::move(choices)),
      engine_(engine),
      stream_(engine),
      values_(model.graph.values.size()),
      readers_(graph::consumers_of(model.graph)),
      postponed_(model.graph.nodes.size()) {
  const graph::Graph& graph = model.graph;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (ValueId id : graph.nodes[i].inputs)
      if (id != kNoValue) values_[id].last_use = i;
    for (ValueId id : graph.nodes[i].outputs) values_[id].maker = i;
  }
  for (const graph::Boundary& output : model.outputs) values_[output.value].last_use = kForever;
  for (uint32_t i = 0; i < model.inputs.size(); ++i) values_[model.inputs[i].value].input = i;
}

Result<ProgramParts> Builder::build() {
  if (const Status status = graph::check_capabilities(model_.graph); !status.ok())
    return unsupported("the CPU device cannot run " + status.message());
  return guarded([this]() -> Result<ProgramParts> {
    MILLRACE_RETURN_IF_ERROR(lower_partitions());
    overlap_collectives(parts_.steps, buffers_);
    parts_.buffers = buffers_.lay_out(choices_.division.divides() ? graph::Placement::kCentred
                                                                  : graph::Placement::kCompact);
    return std::move(parts_);
  });
}

Status Builder::lower_partitions() {
  std::string missing;
  for (partition_ = 0; partition_ < model_.partitions.size(); ++partition_) {
    MILLRACE_RETURN_IF_ERROR(lower_nodes(missing));
    MILLRACE_RETURN_IF_ERROR(deliver_outputs());
  }
  if (missing.empty()) return {};
  return unsupported("the CPU device cannot run " + missing);
}

Builder::Place Builder::place_of(uint32_t node) const noexcept {
  if (on_cpu()) return Place::kCpu;
  const auto precision = model_.graph.nodes[node].precision.value_or(model_.precision);
  return choices_.bf16 && precision == graph::Precision::kBf16 ? Place::kNpuBf16 : Place::kNpu;
}

// Forms other than kSeparable are planned for nodes that compute in the precision of the model.
plan::Form Builder::form() const noexcept {
  const bool planned = !on_cpu() && !model_.graph.nodes[node_].precision;
  const plan::Form form = choices_.forms[node_];
  return planned || form == plan::Form::kSeparable ? form : plan::usual_form(type());
}

// A node that is lowered together with an earlier one is divided as that is.
uint32_t Builder::chunks_of(const graph::Node& node) const {
  for (ValueId id : node.inputs)
    if (const graph::Node* earlier = id == kNoValue ? nullptr : postponed_maker(id))
      return choices_.division.chunks_of(*earlier);
  return choices_.division.chunks_of(node);
}

// Primitives are made for this number of threads, and their steps must run with the same number.
void Builder::make_for(uint32_t threads) noexcept {
  threads_ = threads;
  openmp_.set(threads);
}

// A node whose outputs have no elements takes no step.
Status Builder::lower_node(const graph::Node& node) {
  if (std::ranges::all_of(node.outputs, [&](ValueId id) { return is_empty(id); })) return {};
  computes_numbers_ = graph::computes_numbers(node.op);
  Status status = guarded([&]() -> Status {
    MILLRACE_ASSIGN_OR_RETURN(const bool lowered, kernels::quantised::lower(*this, node));
    if (lowered) return {};
    return std::visit([&](const auto& op) { return kernels::lower(*this, node, op); }, node.op);
  });
  computes_numbers_ = true;
  if (!status.ok() || postponed_[node_]) return status;
  return guarded([&]() -> Status {
    for (const ValueId id : node.outputs)
      if (is_quantised(id)) MILLRACE_RETURN_IF_ERROR(quantise_result(id));
    return {};
  });
}

Status Builder::lower_nodes(std::string& missing) {
  const uint32_t end = partition().first + partition().count;
  for (node_ = partition().first; node_ < end; ++node_) {
    const graph::Node& node = model_.graph.nodes[node_];
    place_ = place_of(node_);
    make_for(chunks_of(node));
    const Status status = lower_node(node);
    make_for(1);
    if (status.ok()) continue;
    if (status.code() != StatusCode::kUnsupported)
      return status.with_context(fmt::format("node \"{}\"", node.name));
    missing += fmt::format("{}node '{}' ({}): {}", missing.empty() ? "" : "; ", node.name,
                           name_of(node.op), status.message());
    // Gives the nodes that follow something to start from, so that they are checked too.
    for (const ValueId id : node.outputs) new_result(id, plain_form(id));
  }
  return {};
}

// Delivers the outputs that the current partition makes.
Status Builder::deliver_outputs() {
  const auto [kind, first, count] = partition();
  for (uint32_t i = 0; i < model_.outputs.size(); ++i) {
    const uint32_t maker = values_[model_.outputs[i].value].maker;
    if (maker < first || maker - first >= count) continue;
    place_ = place_of(maker);
    MILLRACE_RETURN_IF_ERROR(deliver_output(*this, i));
  }
  return {};
}

bool Builder::may_run_again() const {
  return std::ranges::none_of(model_.graph.nodes, graph::is_collective, &graph::Node::op);
}

const graph::Node* Builder::maker(ValueId id) const {
  const bool is_made = !is_constant(id) && !values_[id].input;
  return is_made ? &model_.graph.nodes[values_[id].maker] : nullptr;
}

void Builder::postpone(uint32_t until) {
  postponed_[node_] = true;
  for (const ValueId id : model_.graph.nodes[node_].inputs)
    if (id != kNoValue) values_[id].last_use = std::max(values_[id].last_use, until);
}

const graph::Node* Builder::postponed_maker(ValueId id) const {
  const graph::Node* const node = maker(id);
  return node != nullptr && postponed_[values_[id].maker] ? node : nullptr;
}

bool Builder::is_made(ValueId id) const {
  if (!values_[id].stored.empty()) return true;
  return std::ranges::any_of(values_[id].locations,
                             [](const std::vector<Operand>& there) { return !there.empty(); });
}

Dims Builder::dims(ValueId id) const {
  const Dims& shape = value(id).shape;
  return shape.empty() ? Dims{1} : shape;
}

Desc Builder::plain_form(ValueId id) const {
  if (is_empty(id)) return bytes_desc(0);
  return is_floating(id) ? plain_desc(dims(id), type()) : bytes_desc(value(id).bytes());
}

size_t Builder::element_size(ValueId id) const {
  return is_floating(id) ? dnnl::memory::data_type_size(type()) : tensor::size_of(value(id).type);
}

Status Builder::ensure_location(ValueId id, const Desc& preferred) {
  if (!locations(id).empty()) return {};
  if (is_empty(id)) {
    set_result(id, new_temporary(plain_form(id)));
    return {};
  }
  if (is_quantised(id) && !is_constant(id)) return dequantise(id);
  if (is_constant(id)) {
    const graph::Constant& constant = *value(id).constant;
    if (is_floating(id))
      locations(id).push_back(pack(id, plain_form(id), {}));
    else
      locations(id).push_back({refer_to(constant.bytes), plain_form(id)});
    return {};
  }
  const Desc wanted = on_cpu() ? plain_form(id) : preferred;
  if (!values_[id].input) return bring_over(id, wanted);
  MILLRACE_ASSIGN_OR_RETURN(Operand location, bind_input(*this, *values_[id].input, wanted));
  set_result(id, location);
  return {};
}

// Takes the value from another place. One that was made in FP32 has been rounded if it is BF16.
Status Builder::bring_over(ValueId id, const Desc& wanted) {
  const Operand* from = nullptr;
  for (const Place place : {Place::kNpu, Place::kCpu, Place::kNpuBf16}) {
    for (const Operand& location : values_[id].locations[static_cast<size_t>(place)]) {
      if (from == nullptr) from = &location;
      if (!(location.desc == wanted)) continue;
      locations(id).push_back(location);
      return {};
    }
  }
  if (from == nullptr) return internal_error("a value is used before it is made");
  const Operand copy = new_temporary(wanted);
  add_reorder(id, *from, copy);
  set_result(id, copy);
  return {};
}

Result<Operand> Builder::current(ValueId id) {
  if (is_quantised(id) && !is_floating(id)) return integers(id);
  MILLRACE_RETURN_IF_ERROR(ensure_location(id, plain_form(id)));
  return locations(id).front();
}

Result<Operand> Builder::in_layout(ValueId id, const Desc& wanted) {
  if (is_empty(id) || (is_quantised(id) && !is_floating(id))) return current(id);
  if (is_constant(id) && is_floating(id)) return packed(id, wanted);
  MILLRACE_RETURN_IF_ERROR(ensure_location(id, wanted));
  for (const Operand& location : locations(id))
    if (location.desc == wanted) return location;
  const Operand copy = new_temporary(wanted);
  add_reorder(id, locations(id).front(), copy);
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

bool Builder::may_overwrite(ValueId id, const Operand& location) const {
  if (!buffers_.is_own(location.buffer) || start_of(location.desc) != 0) return false;
  if (std::ranges::count(model_.graph.nodes[node_].inputs, id) != 1) return false;
  return std::ranges::all_of(buffers_.values_with(location.buffer), [&](ValueId other) {
    return values_[other].last_use < node_ || (other == id && values_[other].last_use == node_);
  });
}

Operand Builder::new_result_over(ValueId result, const Desc& desc, ValueId id,
                                 const Operand& location) {
  if (!(location.desc == desc) || !may_overwrite(id, location)) return new_result(result, desc);
  set_result(result, location);
  return location;
}

void Builder::add(std::string operation, std::string implementation,
                  std::unique_ptr<const Step> step, std::optional<ViewCondition> only_in,
                  ValueId moved) {
  const auto index = static_cast<uint32_t>(parts_.steps.size());
  for (BufferId id : step->buffers()) buffers_.touch(id, index);
  StepInfo info{{}, std::move(operation), std::move(implementation), {}, partition_};
  info.precision = type() == ElementType::bf16 ? graph::Precision::kBf16 : graph::Precision::kFp32;
  if (reads_integers(*step, moved == kNoValue ? first_operand() : moved)) info.precision.reset();
  if (moved == kNoValue) {
    const graph::Node& node = model_.graph.nodes[node_];
    info.node = node.name;
    moved = node.outputs[0];
  } else if (only_in) {
    info.reason = why_in_view(moved, *only_in);
  }
  info.output = value(moved).name;
  describe_layouts(*step, info);
  const uint32_t threads = may_be_divided(info.implementation) ? threads_ : 1;
  parts_.steps.push_back({std::move(step), std::move(info), only_in, threads});
}

namespace {

// The copy is between layouts of one type.
void add_layout_copy(Builder& builder, ValueId moved, Operand from, const Operand& to,
                     std::optional<ViewCondition> only_in) {
  const ElementType type = to.desc.data_type();
  if (from.desc.data_type() != type) {
    const Operand converted = builder.new_temporary(plain_desc(from.desc.dims(), type));
    builder.add_reorder(moved, from, converted, only_in);
    from = converted;
  }
  builder.add("Reorder", "millrace:copy", kernels::layout_copy_step(from, to), only_in, moved);
}

}  // namespace

void Builder::add_reorder(ValueId moved, const Operand& from, const Operand& to,
                          std::optional<ViewCondition> only_in) {
  if (auto step = kernels::pixels::reorder_step(from, to, threads_)) {
    add("Reorder", "millrace:pixels", std::move(step), only_in, moved);
  } else if (auto copy = kernels::channels::reorder_step(from, to, threads_)) {
    add("Reorder", "millrace:channels", std::move(copy), only_in, moved);
  } else if (!reorders_rightly(from.desc, to.desc)) {
    add_layout_copy(*this, moved, from, to, only_in);
  } else {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::reorder::primitive_desc desc(engine_, as_told(from.desc), engine_, as_told(to.desc),
                                             attributes);
    add_primitive("Reorder", desc, dnnl::reorder(desc), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}},
                  only_in, moved);
  }
  if (!only_in) parts_.steps.back().info.reason = why_reordered(moved, from, to);
}

}  // namespace millrace::device::cpu
