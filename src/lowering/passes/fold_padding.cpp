#include <algorithm>

#include "graph/shape.h"
#include "lowering/passes/edit.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::Dims;
using graph::Node;

constexpr size_t kSpatialBegin = 2;  // in [N, C, spatial...]

// Whether the Pad adds zeros to the spatial dimensions only, and removes nothing.
bool is_spatial_zero_pad(const graph::Pad& pad) {
  if (pad.mode != graph::PadMode::kConstant || pad.value != 0) return false;
  if (pad.begin.size() <= kSpatialBegin) return false;
  const auto is_zero = [](int64_t n) { return n == 0; };
  const auto is_padding = [](int64_t n) { return n >= 0; };
  return std::ranges::all_of(std::span(pad.begin).first(kSpatialBegin), is_zero) &&
         std::ranges::all_of(std::span(pad.end).first(kSpatialBegin), is_zero) &&
         std::ranges::all_of(pad.begin, is_padding) && std::ranges::all_of(pad.end, is_padding);
}

void add_pads(const graph::Pad& pad, Dims& begin, Dims& end) {
  for (size_t i = 0; i < begin.size(); ++i) {
    begin[i] += pad.begin[kSpatialBegin + i];
    end[i] += pad.end[kSpatialBegin + i];
  }
}

std::optional<graph::Operator> with_padding(const graph::Conv& conv, const graph::Pad& pad) {
  graph::Conv padded = conv;
  add_pads(pad, padded.pads_begin, padded.pads_end);
  return padded;
}

// The zeros of a Pad count in the mean, so the Pool gets count_include_pad. That is wrong for its
// own padding, if it has any that does not count; the part of windows beyond the end (ceil_excess)
// never counts.
std::optional<graph::Operator> with_padding(const graph::Pool& pool, const graph::Pad& pad) {
  if (pool.kind != graph::PoolKind::kAverage) return std::nullopt;
  const bool no_own_padding = std::ranges::all_of(pool.pads_begin, [](auto n) { return n == 0; }) &&
                              pool.pads_end == pool.ceil_excess;
  if (!pool.count_include_pad && !no_own_padding) return std::nullopt;
  graph::Pool padded = pool;
  padded.count_include_pad = true;
  add_pads(pad, padded.pads_begin, padded.pads_end);
  return padded;
}

template <class Op>
std::optional<graph::Operator> with_padding(const Op&, const graph::Pad&) {
  return std::nullopt;
}

void fold_into(Editor& editor, Editor::Index index) {
  const Node& node = editor.node(index);
  if (node.inputs.empty()) return;
  const auto* pad = editor.maker_as<graph::Pad>(node.inputs[0]);
  if (pad == nullptr || !is_spatial_zero_pad(*pad)) return;
  auto op =
      std::visit([&](const auto& attributes) { return with_padding(attributes, *pad); }, node.op);
  if (!op) return;
  Node padded = node;
  padded.op = *op;
  padded.inputs[0] = editor.node(*editor.maker(node.inputs[0])).inputs[0];
  // The shape function may limit the padding of the operator, which a separate Pad is not subject
  // to.
  if (!graph::infer_output(editor.graph(), padded).ok()) return;
  editor.node(index).op = std::move(*op);
  editor.set_inputs(index, std::move(padded.inputs));
}

}  // namespace

Status fold_padding(graph::Graph& graph, const PassContext&) {
  Editor editor(graph);
  for (Editor::Index index : editor.nodes()) fold_into(editor, index);
  editor.finish();
  return {};
}

}  // namespace millrace::lowering
