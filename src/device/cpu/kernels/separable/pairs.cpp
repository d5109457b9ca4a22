#include "device/cpu/kernels/separable/pairs.h"

#include <algorithm>
#include <span>
#include <variant>

#include "device/cpu/kernels/bounds.h"
#include "device/cpu/kernels/depthwise/depthwise.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/separable/bf16_loops.h"
#include "device/cpu/kernels/separable/loops.h"

namespace millrace::device::cpu::kernels::separable {
namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

// A smaller intermediate image stays in the cache, and oneDNN's kernels are as fast.
constexpr int64_t kLeastElements = int64_t{1} << 16;
// Filters of more channels do not stay in the nearest cache, and are read for each row.
constexpr int64_t kMostChannels = 128;
// An image of fewer channels is padded to a block.
constexpr int64_t kLeastChannels = 8;

// By tiles the step is faster with smaller images, too: their elements are not stored in BF16, read
// and split again. It also takes filters of more channels, which are half as large as in FP32.
constexpr int64_t kLeastElementsByTiles = int64_t{1} << 12, kMostChannelsByTiles = 192;

bool are(const Dims& dims, int64_t number) {
  return std::ranges::all_of(dims, [number](int64_t dim) { return dim == number; });
}

// Whether the Conv has floating point images and constant weights, and neither residual nor PRelu.
bool is_simple(const graph::Graph& graph, const Node& node, const graph::Conv& op) {
  const auto value = [&graph](ValueId id) -> const graph::Value& { return graph.values[id]; };
  const bool has_numbers = std::ranges::all_of(node.inputs, [&](ValueId id) {
    return id == kNoValue || (tensor::fits_float32(value(id).type) && !value(id).quantisation);
  });
  const graph::Value& y = value(node.outputs[0]);
  return has_numbers && node.input(3) == kNoValue && node.input(4) == kNoValue &&
         clamp_bounds(op.activation) && !y.quantisation && y.elements() > 0 &&
         value(node.input(1)).constant && value(node.input(0)).shape.size() == 4;
}

bool is_pointwise(const graph::Graph& graph, const Node& node) {
  const auto* const op = std::get_if<graph::Conv>(&node.op);
  if (op == nullptr || !is_simple(graph, node, *op) || op->group != 1) return false;
  const Dims& weight = graph.values[node.input(1)].shape;
  return weight[2] == 1 && weight[3] == 1 && are(op->strides, 1) && are(op->pads_begin, 0) &&
         are(op->pads_end, 0) && weight[0] % channel_block() == 0;
}

bool is_depthwise(const graph::Graph& graph, const Node& node) {
  const auto* const op = std::get_if<graph::Conv>(&node.op);
  return op != nullptr && is_simple(graph, node, *op) &&
         depthwise::is_depthwise(*op, graph.values[node.input(0)].shape,
                                 graph.values[node.input(1)].shape);
}

bool is_output(const graph::CompiledModel& model, ValueId id) {
  return std::ranges::any_of(model.outputs,
                             [id](const graph::Boundary& output) { return output.value == id; });
}

// Whether there are loops for images of so many channels.
bool has_loops(ElementType type, int64_t channels) {
  if (type == ElementType::f32) return channel_block() == static_cast<int>(vector_block());
  return type == ElementType::bf16 && bf16_products() != Bf16Products::kNone &&
         vector_block() == kBf16Block && channels % 2 == 0;
}

// Returns the depthwise Conv that alone reads the result of the node, if there is one among
// `readers`.
std::optional<uint32_t> partner_among(const graph::CompiledModel& model, ElementType type,
                                      const Node& node, std::span<const uint32_t> readers) {
  const graph::Graph& graph = model.graph;
  if (!is_pointwise(graph, node) || !has_loops(type, graph.values[node.input(0)].shape[1]))
    return std::nullopt;
  const ValueId y = node.outputs[0];
  if (is_output(model, y) || readers.size() != 1) return std::nullopt;
  const Node& next = graph.nodes[readers[0]];
  if (!is_depthwise(graph, next) || next.input(0) != y || next.precision != node.precision)
    return std::nullopt;
  return readers[0];
}

}  // namespace

std::optional<uint32_t> partner_of(const graph::CompiledModel& model, ElementType type,
                                   const Readers& readers, const graph::Partition& partition,
                                   uint32_t pointwise) {
  const Node& node = model.graph.nodes[pointwise];
  const auto partner = partner_among(model, type, node, readers[node.outputs[0]]);
  const bool comes_later =
      partner && *partner > pointwise && *partner < partition.first + partition.count;
  return comes_later ? partner : std::nullopt;
}

bool is_worthwhile(const graph::Graph& graph, ElementType type, const Node& pointwise) {
  const int64_t channels = graph.values[pointwise.input(0)].shape[1];
  const Dims& y = graph.values[pointwise.outputs[0]].shape;
  const int64_t elements = y[1] * y[2] * y[3];
  if (type == ElementType::bf16 && bf16_products() == Bf16Products::kTiles)
    return channels <= kMostChannelsByTiles && elements >= kLeastElementsByTiles;
  return channels >= kLeastChannels && channels <= kMostChannels && elements >= kLeastElements;
}

bool postpone(Builder& builder, const Node& node) {
  if (builder.form() != Form::kSeparable) return false;
  const auto partner =
      partner_among(builder.model(), builder.type(), node, builder.readers(node.outputs[0]));
  if (!partner || !builder.comes_later(*partner)) return false;
  builder.postpone(*partner);
  return true;
}

}  // namespace millrace::device::cpu::kernels::separable
