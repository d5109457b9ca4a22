// Common code of the kernels that make primitives.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "device/cpu/builder/builder.h"
#include "device/cpu/dnnl/attributes.h"
#include "device/cpu/dnnl/primitives.h"
#include "device/cpu/dnnl/traits.h"
#include "device/cpu/kernels/bounds.h"
#include "graph/operators.h"

namespace millrace::device::cpu::kernels {

// Returns the attributes that every primitive has: its scratch memory comes from the arena.
dnnl::primitive_attr make_attributes();

// Returns the number of channels per block in the layout that convolutions prefer on this
// processor.
int channel_block();

// Returns the layouts to try for a value, best first: its present one if that is dense, channels in
// blocks, plain.
std::vector<Desc> layouts_for(const Desc& now);

template <class PrimitiveDesc, class Option>
struct Choice {
  PrimitiveDesc primitive;
  Option option;
};

// Returns the first of `options` for which `make` returns a primitive with a fast implementation,
// or else with any. `make` may return an empty descriptor or throw dnnl::error.
template <class Option, class Make>
auto choose(const std::vector<Option>& options, Make make) {
  using PrimitiveDesc = decltype(make(std::declval<const Option&>()));
  std::optional<Choice<PrimitiveDesc, Option>> chosen;
  for (const Option& option : options) {
    try {
      PrimitiveDesc primitive = make(option);
      if (primitive.get(true) == nullptr) continue;
      const bool fast = !is_reference(primitive.impl_info_str());
      if (fast || !chosen) chosen = {std::move(primitive), option};
      if (fast) break;
    } catch (const dnnl::error& error) {
      if (error.status == dnnl_out_of_memory) throw;
    }
  }
  return chosen;
}

// Returns oneDNN's elementwise function for `function`, if it has one with the same meaning for all
// numbers. NaNs are lost by functions with last_bounds() and by the exponential.
std::optional<Eltwise> eltwise_of(const graph::Activation& function);

// Lowers a node that applies `eltwise` to its first operand, in the present layout of that. Returns
// false, with nothing added, if oneDNN has no such primitive.
Result<bool> lower_eltwise(Builder& builder, const graph::Node& node, const Eltwise& eltwise);

// Appends `function` to the post-ops of a primitive. Returns false if the function needs a step of
// its own. Floating point results lose NaNs by functions with last_bounds(), which careful_step.h
// handles, and by the exponential, which callers do not append.
bool append_activation(dnnl::post_ops& post_ops, const graph::Activation& function);

// Returns the bounds between which the last part of `function` keeps its results; oneDNN loses NaNs
// there (careful_step.h).
std::optional<Bounds> last_bounds(const graph::Activation& function);
// Does the same as append_activation(), without that part. Requirement: last_bounds(function).
void append_before_bounds(dnnl::post_ops& post_ops, const graph::Activation& function);

// Returns the first implementation with that name, from `desc` on, or an empty descriptor.
template <class PrimitiveDesc>
PrimitiveDesc implementation_named(PrimitiveDesc desc, std::string_view name) {
  while (desc.get(/*allow_empty=*/true) != nullptr && desc.impl_info_str() != name)
    if (!desc.next_impl()) return PrimitiveDesc();
  return desc;
}

// Adds the step to = function(from). Both have the same layout, and may be one buffer.
Status add_unary(Builder& builder, const graph::Activation& function, const Operand& from,
                 const Operand& to);

// Lowers y = function(x) by a loop of the device's own. Both are values of the graph.
Status lower_function(Builder& builder, graph::ValueId x, graph::ValueId y,
                      const graph::Activation& function);

// Adds the step of PRelu, likewise. `slope` broadcasts to `from`.
Status add_prelu(Builder& builder, const Operand& from, const Operand& slope, const Operand& to);

}  // namespace millrace::device::cpu::kernels
