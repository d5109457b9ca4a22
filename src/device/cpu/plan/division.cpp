#include "device/cpu/plan/division.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "device/cpu/accelerated/recurrent/lstm_sequence.h"
#include "device/cpu/dnnl/openmp/openmp.h"
#include "graph/work.h"

namespace millrace::device::cpu::plan {
namespace {

using graph::ValueId;

// The approximate throughput of one core; docs/performance/roofline.md has the measurements.
constexpr double kBytesPerNs = 10;
constexpr double kMultiplicationsPerNs = 60;        // in FP32
constexpr double kShortMultiplicationsPerNs = 180;  // in BF16 and of integers
// Handing a chunk to another core and waiting for its end takes about a microsecond.
constexpr double kLeastChunkNs = 8'000;
// A lane that is still polling for chunks after the previous job takes part at once. Waking one
// takes about 30 microseconds, and costs the leader a few, which must be less than it can save.
constexpr double kLeastProgramNs = 60'000;

double bytes_of(const graph::Graph& graph, std::span<const ValueId> ids) {
  double bytes = 0;
  for (const ValueId id : ids)
    if (id != graph::kNoValue) bytes += static_cast<double>(graph.values[id].bytes());
  return bytes;
}

// The fallback operators whose steps can be divided.
constexpr std::string_view kDivided[] = {"RMSNormalization", "SimplifiedLayerNormalization",
                                         "com.microsoft.MatMulNBits", "millrace.Attention",
                                         "millrace.CachedAttention"};

// Returns the number of lanes that can take part in a node. The steps of most fallback operators
// run on one thread. So do recurrent networks, whose matrix products are too short to divide; their
// two directions are independent, so two lanes can take part.
uint32_t most_chunks(const graph::Graph& graph, const graph::Node& node, uint32_t lanes) {
  if (accelerated::has_two_directions(graph, node)) return std::min(lanes, 2U);
  const auto* fallback = std::get_if<graph::Fallback>(&node.op);
  const bool has_parts =
      fallback == nullptr || std::ranges::find(kDivided, fallback->name) != std::end(kDivided);
  return has_parts ? lanes : 1;
}

}  // namespace

Division::Division(const graph::CompiledModel& model, ElementType type, uint32_t lanes)
    : graph_(model.graph),
      multiplications_per_ns_(type == ElementType::f32 ? kMultiplicationsPerNs
                                                       : kShortMultiplicationsPerNs),
      lanes_(divides_primitives() ? std::max(lanes, 1U) : 1) {
  double all = 0;
  for (const graph::Node& node : graph_.nodes)
    if (chunks_of(node) > 1) all += nanoseconds_of(node);
  worthwhile_ = all >= kLeastProgramNs;
}

double Division::nanoseconds_of(const graph::Node& node) const {
  double elements = 0;
  for (const ValueId id : node.outputs)
    elements += static_cast<double>(graph_.values[id].elements());
  const bool integers = graph_.values[node.outputs[0]].quantisation.has_value();
  const double rate = integers ? kShortMultiplicationsPerNs : multiplications_per_ns_;
  return elements * graph::multiplications_per_element(graph_, node) / rate +
         (bytes_of(graph_, node.inputs) + bytes_of(graph_, node.outputs)) / kBytesPerNs;
}

uint32_t Division::chunks_of(const graph::Node& node) const {
  if (!worthwhile_) return 1;
  const uint32_t most = most_chunks(graph_, node, lanes_);
  if (most == 1) return 1;
  const double chunks = nanoseconds_of(node) / kLeastChunkNs;
  // `chunks` is NaN if the operator has no elements.
  return chunks >= 2 ? static_cast<uint32_t>(std::min<double>(chunks, most)) : 1;
}

std::vector<uint32_t> Division::chunks() const {
  std::vector<uint32_t> chunks;
  for (const graph::Node& node : graph_.nodes) chunks.push_back(chunks_of(node));
  return chunks;
}

}  // namespace millrace::device::cpu::plan
