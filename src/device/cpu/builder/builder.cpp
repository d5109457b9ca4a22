// The walk over the nodes: the builder lowers partition after partition, and in each node after
// node, with the number of OpenMP threads that the node is divided into. Nodes without a kernel are
// collected, so that the error names all of them.
#include "device/cpu/builder/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/cpu/builder/overlap.h"
#include "device/cpu/capabilities/capabilities.h"
#include "device/cpu/dnnl/primitives.h"
#include "device/cpu/dnnl/reorder.h"
#include "device/cpu/dnnl/traits.h"
#include "device/cpu/reorders/channels_last.h"
#include "device/cpu/reorders/layout_copy.h"
#include "device/cpu/reorders/rgbx.h"
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
  if (const Status status = capabilities().check(model_.graph); !status.ok())
    return unsupported("the CPU device cannot run " + status.message());
  return guarded([this]() -> Result<ProgramParts> {
    MILLRACE_RETURN_IF_ERROR(lower_partitions());
    overlap_collectives(parts_.steps, buffers_);
    const bool divides = std::ranges::any_of(choices_.chunks, [](uint32_t n) { return n > 1; });
    parts_.buffers =
        buffers_.lay_out(divides ? graph::Placement::kCentred : graph::Placement::kCompact);
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

Builder::Domain Builder::domain_of(uint32_t node) const noexcept {
  if (on_cpu()) return Domain::kCpu;
  const auto precision = model_.graph.nodes[node].precision.value_or(model_.precision);
  return choices_.bf16 && precision == graph::Precision::kBf16 ? Domain::kNpuBf16
                                                               : Domain::kNpuFp32;
}

// Forms other than kSeparable are planned for nodes that compute in the precision of the model.
Form Builder::form() const noexcept {
  const bool planned = !on_cpu() && !model_.graph.nodes[node_].precision;
  const Form form = choices_.forms[node_];
  return planned || form == Form::kSeparable ? form : usual_form(type());
}

// A node that is lowered together with an earlier one is divided as that is.
uint32_t Builder::chunks_of_current_node() const {
  for (ValueId id : model_.graph.nodes[node_].inputs)
    if (id != kNoValue && postponed_maker(id) != nullptr) return choices_.chunks[values_[id].maker];
  return choices_.chunks[node_];
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
  Status status = guarded([&] { return choices_.lower_node(*this, node); });
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
    domain_ = domain_of(node_);
    make_for(chunks_of_current_node());
    const Status status = lower_node(node);
    make_for(1);
    if (status.ok()) continue;
    if (status.code() != StatusCode::kUnsupported)
      return status.with_context(fmt::format("node \"{}\"", node.name));
    missing += fmt::format("{}node '{}' ({}): {}", missing.empty() ? "" : "; ", node.name,
                           name_of(node.op), status.message());
    // Gives the nodes that follow something to start from, so that they are checked too.
    for (const ValueId id : node.outputs) new_result(id, plain_layout(id));
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

// Adds a LayoutCopy, after a conversion if the types differ.
void add_layout_copy(Builder& builder, ValueId moved, Operand from, const Operand& to,
                     std::optional<ViewCondition> only_in) {
  const ElementType type = to.desc.data_type();
  if (from.desc.data_type() != type)
    from = builder.reordered(moved, from, plain_desc(from.desc.dims(), type), only_in);
  builder.add("Reorder", "millrace:copy", reorders::layout_copy_step(from, to), only_in, moved);
}

}  // namespace

void Builder::add_reorder(ValueId moved, const Operand& from, const Operand& to,
                          std::optional<ViewCondition> only_in) {
  if (auto step = reorders::rgbx::reorder_step(from, to, threads_)) {
    add("Reorder", "millrace:rgbx", std::move(step), only_in, moved);
  } else if (auto copy = reorders::channels_last::reorder_step(from, to, threads_)) {
    add("Reorder", "millrace:channels-last", std::move(copy), only_in, moved);
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

Operand Builder::reordered(ValueId moved, const Operand& from, const Desc& wanted,
                           std::optional<ViewCondition> only_in) {
  const Operand copy = new_temporary(wanted);
  add_reorder(moved, from, copy, only_in);
  return copy;
}

}  // namespace millrace::device::cpu
