// Encodes a CompiledModel as the FlatBuffer of the archive schema. Constants become segments in the
// order in which build_structure() meets them: values of the graph, then constants of the network.
// The format version is the lowest one that has everything the model uses, so that older runtimes
// load what they can.
#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <vector>

#include "graph/archive/codec.h"
#include "graph/archive/connectivity.h"
#include "graph/archive/encode_network.h"
#include "graph/archive/encode_operator.h"
#include "graph/archive/enums.h"

namespace millrace::graph {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

template <class Table>
using Offsets = std::vector<Offset<Table>>;

Offsets<format::Value> encode_values(FlatBufferBuilder& builder, const Graph& graph,
                                     uint32_t& next_segment) {
  Offsets<format::Value> values;
  for (const Value& value : graph.values) {
    values.push_back(encode_value(builder, value, next_segment));
  }
  return values;
}

Offsets<format::Node> encode_nodes(FlatBufferBuilder& builder, const Graph& graph) {
  Offsets<format::Node> nodes;
  for (const Node& node : graph.nodes) {
    const EncodedOperator op = encode_operator(builder, node.op);
    flatbuffers::Optional<format::Precision> precision;
    if (node.precision) precision = enum_cast<format::Precision>(*node.precision);
    nodes.push_back(format::CreateNodeDirect(builder, node.name.c_str(), op.type, op.table,
                                             &node.inputs, &node.outputs, precision));
  }
  return nodes;
}

Offset<format::TensorDesc> encode_desc(FlatBufferBuilder& builder, const tensor::TensorDesc& desc) {
  return format::CreateTensorDescDirect(
      builder, desc.name.c_str(), enum_cast<format::DataType>(desc.type),
      enum_cast<format::Layout>(desc.layout), &desc.order, &desc.shape);
}

Offsets<format::Boundary> encode_boundaries(FlatBufferBuilder& builder,
                                            const std::vector<Boundary>& boundaries) {
  Offsets<format::Boundary> encoded;
  for (const Boundary& boundary : boundaries) {
    const auto cpu = encode_desc(builder, boundary.cpu);
    Offset<format::TensorDesc> hw;
    if (boundary.hw) hw = encode_desc(builder, *boundary.hw);
    const format::QuantParams quant(boundary.quant.scale, boundary.quant.zero_point,
                                    enum_cast<format::Rounding>(boundary.quant.rounding));
    encoded.push_back(format::CreateBoundary(builder, boundary.value, cpu, hw, &quant,
                                             boundary.open, boundary.requantised));
  }
  return encoded;
}

std::vector<format::Partition> encode_partitions(const std::vector<Partition>& partitions) {
  std::vector<format::Partition> encoded;
  encoded.reserve(partitions.size());
  for (const Partition& partition : partitions) {
    encoded.emplace_back(enum_cast<format::PartitionKind>(partition.kind), partition.first,
                         partition.count);
  }
  return encoded;
}

std::vector<format::PlannedValue> encode_plan(const std::vector<PlannedValue>& plan) {
  std::vector<format::PlannedValue> encoded;
  encoded.reserve(plan.size());
  for (const PlannedValue& range : plan) {
    encoded.emplace_back(range.offset, range.bytes, range.value);
  }
  return encoded;
}

Offsets<format::Segment> encode_segments(FlatBufferBuilder& builder,
                                         std::span<const model::SegmentInfo> segments) {
  Offsets<format::Segment> encoded;
  for (const model::SegmentInfo& segment : segments) {
    encoded.push_back(format::CreateSegment(builder, segment.offset, segment.length,
                                            segment.checksum, format::SegmentKind::Constant));
  }
  return encoded;
}

Offsets<format::ShapeProfile> encode_profiles(FlatBufferBuilder& builder,
                                              const std::vector<ShapeProfile>& profiles) {
  Offsets<format::ShapeProfile> encoded;
  for (const ShapeProfile& profile : profiles) {
    Offsets<format::Shape> shapes;
    for (const std::vector<uint32_t>& shape : profile.shapes) {
      shapes.push_back(format::CreateShapeDirect(builder, &shape));
    }
    encoded.push_back(format::CreateShapeProfileDirect(builder, profile.name.c_str(), &shapes));
  }
  return encoded;
}

// Whether values are quantised, or nodes have their own precision.
bool has_several_precisions(const Graph& graph) {
  const auto is_quantised = [](const Value& value) { return value.quantisation.has_value(); };
  const auto has_its_own = [](const Node& node) { return node.precision.has_value(); };
  return std::ranges::any_of(graph.values, is_quantised) ||
         std::ranges::any_of(graph.nodes, has_its_own);
}

bool has_collectives(const CompiledModel& model) {
  return std::ranges::find(model.partitions, PartitionKind::kCollective, &Partition::kind) !=
         model.partitions.end();
}

// Returns the lowest version that supports everything in the model.
uint32_t version_of(const CompiledModel& model) {
  if (has_requantised_views(model) || model.hw_quantisation != HwQuantisation::kModel)
    return model::kRequantisedFormatVersion;
  if (model.network) return model::kNetworkFormatVersion;
  if (has_collectives(model)) return model::kCollectiveFormatVersion;
  if (has_several_precisions(model.graph)) return model::kQuantisedFormatVersion;
  return model::kGraphFormatVersion;
}

std::vector<uint8_t> build_structure(const CompiledModel& model, uint32_t columns,
                                     std::span<const model::SegmentInfo> segment_places) {
  FlatBufferBuilder builder;
  // Write fields even if they have their default value, so that a later change of a default in the
  // schema does not change the meaning of this archive.
  builder.ForceDefaults(true);
  uint32_t next_segment = 0;
  const auto values = encode_values(builder, model.graph, next_segment);
  const auto nodes = encode_nodes(builder, model.graph);
  const auto inputs = encode_boundaries(builder, model.inputs);
  const auto outputs = encode_boundaries(builder, model.outputs);
  const auto partitions = encode_partitions(model.partitions);
  const auto plan = encode_plan(model.plan);
  const auto segments = encode_segments(builder, segment_places);
  Offset<format::Network> network;
  if (model.network) network = network::encode_network(builder, *model.network, next_segment);
  const auto cpu_operators = network::encode_names(builder, model.cpu_operators);
  const auto profiles = encode_profiles(builder, model.profiles);
  format::FinishArchiveBuffer(
      builder,
      format::CreateArchiveDirect(
          builder, model.name.c_str(), model.producer.c_str(),
          enum_cast<format::Precision>(model.precision), model.batch_size, &values, &nodes, &inputs,
          &outputs, &partitions, &plan, model.arena_bytes, &segments, network, &cpu_operators,
          &profiles, enum_cast<format::HwQuantisation>(model.hw_quantisation), columns));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

}  // namespace

// The segments are listed in the order in which build_structure() counts constants.
model::ArchiveContent encode(const CompiledModel& model, uint32_t columns) {
  model::ArchiveContent content;
  for (const Value& value : model.graph.values) {
    if (value.constant) content.segments.push_back(value.constant->bytes);
  }
  if (model.network) network::list_constants(*model.network, content.segments);
  content.version = version_of(model);
  content.build_structure = [&model, columns](std::span<const model::SegmentInfo> segments) {
    return build_structure(model, columns, segments);
  };
  content.side_files = [&model] { return describe_parts(model); };
  return content;
}

}  // namespace millrace::graph
