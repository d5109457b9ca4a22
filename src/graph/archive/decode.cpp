// Decodes the tables of the archive one after another into a CompiledModel. Every read goes through
// StructureReader, which limits the total size and keeps the first failure; the result is then
// checked by check_model(). Errors name the item in which they occurred.
#include <fmt/format.h>

#include <utility>

#include "graph/archive/codec.h"
#include "graph/archive/decode_network.h"
#include "graph/archive/decode_operator.h"
#include "graph/archive/decode_value.h"
#include "graph/archive/enums.h"
#include "graph/archive/reader.h"

namespace millrace::graph {
namespace {

class Decoder {
 public:
  explicit Decoder(const std::shared_ptr<const model::Archive>& archive)
      : root_(archive->root()), reader_(archive->structure_bytes()), values_(archive, reader_) {}

  Result<CompiledModel> run() {
    MILLRACE_RETURN_IF_ERROR(decode_summary());
    MILLRACE_RETURN_IF_ERROR(decode_values());
    MILLRACE_RETURN_IF_ERROR(decode_nodes());
    MILLRACE_RETURN_IF_ERROR(
        decode_boundaries(*root_.inputs(), "input", model_.inputs, model_.graph.inputs));
    MILLRACE_RETURN_IF_ERROR(
        decode_boundaries(*root_.outputs(), "output", model_.outputs, model_.graph.outputs));
    MILLRACE_RETURN_IF_ERROR(decode_partitions());
    MILLRACE_RETURN_IF_ERROR(decode_plan());
    MILLRACE_RETURN_IF_ERROR(decode_network());
    MILLRACE_RETURN_IF_ERROR(decode_profiles());
    MILLRACE_RETURN_IF_ERROR(check_model(model_));
    return std::move(model_);
  }

 private:
  Status decode_summary() {
    model_.name = reader_.text(*root_.name());
    model_.producer = reader_.text(*root_.producer());
    model_.precision = reader_.enumerator<Precision>("precision", root_.precision());
    model_.batch_size = root_.batch_size();
    return reader_.status();
  }

  Status decode_values() {
    for (const format::Value* table : *root_.values()) {
      model_.graph.values.push_back(values_.value(*table));
      MILLRACE_RETURN_IF_ERROR(in_item("value", model_.graph.values));
    }
    return {};
  }

  Status decode_nodes() {
    for (const format::Node* table : *root_.nodes()) {
      Node node;
      node.name = reader_.text(*table->name());
      node.op = decode_operator(*table, reader_);
      node.inputs = reader_.list(*table->inputs());
      node.outputs = reader_.list(*table->outputs());
      if (const auto precision = table->precision(); precision.has_value())
        node.precision = reader_.enumerator<Precision>("precision", *precision);
      model_.graph.nodes.push_back(std::move(node));
      MILLRACE_RETURN_IF_ERROR(in_item("node", model_.graph.nodes));
    }
    return {};
  }

  tensor::TensorDesc decode_desc(const format::TensorDesc& table) {
    return {.name = reader_.text(*table.name()),
            .type = reader_.enumerator<tensor::DataType>("data type", table.type()),
            .layout = reader_.enumerator<tensor::Layout>("layout", table.layout()),
            .order = reader_.list(*table.order()),
            .shape = reader_.list(*table.shape())};
  }

  Status decode_boundaries(const flatbuffers::Vector<flatbuffers::Offset<format::Boundary>>& tables,
                           const char* side, std::vector<Boundary>& boundaries,
                           std::vector<ValueId>& values) {
    for (const format::Boundary* table : tables) {
      Boundary boundary;
      boundary.value = table->value();
      boundary.cpu = decode_desc(*table->cpu());
      if (table->hw() != nullptr) boundary.hw = decode_desc(*table->hw());
      const format::QuantParams& quant = *table->quant();
      boundary.quant = {quant.scale(), quant.zero_point(),
                        reader_.enumerator<tensor::Rounding>("rounding", quant.rounding())};
      boundary.open = table->open();
      boundary.requantised = table->requantised();
      if (root_.network() == nullptr) values.push_back(boundary.value);
      boundaries.push_back(std::move(boundary));
      MILLRACE_RETURN_IF_ERROR(
          reader_.status().with_context(fmt::format("{} {}", side, boundaries.size() - 1)));
    }
    return {};
  }

  Status decode_partitions() {
    for (const format::Partition& partition : reader_.list(*root_.partitions())) {
      model_.partitions.push_back(
          {reader_.enumerator<PartitionKind>("partition kind", partition.kind()), partition.first(),
           partition.count()});
    }
    return reader_.status();
  }

  Status decode_plan() {
    model_.arena_bytes = root_.arena_bytes();
    for (const format::PlannedValue& range : reader_.list(*root_.plan())) {
      model_.plan.push_back({range.value(), range.offset(), range.bytes()});
    }
    return reader_.status();
  }

  Status decode_network() {
    if (root_.cpu_operators() != nullptr) {
      for (const format::Name* name : *root_.cpu_operators()) {
        model_.cpu_operators.push_back(reader_.text(*name->text()));
      }
    }
    if (root_.network() != nullptr) {
      model_.network = network::decode_network(*root_.network(), reader_, values_);
    }
    return reader_.status().with_context("network");
  }

  Status decode_profiles() {
    model_.hw_quantisation =
        reader_.enumerator<HwQuantisation>("HW quantisation", root_.hw_quantisation());
    if (root_.profiles() == nullptr) return reader_.status();
    for (const format::ShapeProfile* table : *root_.profiles()) {
      ShapeProfile profile{.name = reader_.text(*table->name()), .shapes = {}};
      for (const format::Shape* shape : *table->shapes()) {
        profile.shapes.push_back(reader_.list(*shape->dimensions()));
      }
      model_.profiles.push_back(std::move(profile));
      MILLRACE_RETURN_IF_ERROR(in_item("profile", model_.profiles));
    }
    return reader_.status();
  }

  // Returns the status of the reader, with the last of `items` as context.
  template <class Item>
  Status in_item(const char* kind, const std::vector<Item>& items) const {
    if (reader_.status().ok()) return {};
    return reader_.status().with_context(
        fmt::format("{} {} '{}'", kind, items.size() - 1, items.back().name));
  }

  const format::Archive& root_;
  StructureReader reader_;
  ValueReader values_;
  CompiledModel model_;
};

}  // namespace

Result<uint32_t> columns_of(const model::Archive& archive) {
  const uint32_t columns = archive.root().columns();
  if (columns > 0 && columns <= kMostColumnsOfAModel && columns % kColumnsOfAUnit == 0)
    return columns;
  return corrupt_data(fmt::format("{} columns are not a multiple of {} up to {}", columns,
                                  kColumnsOfAUnit, kMostColumnsOfAModel));
}

Result<CompiledModel> decode_unverified(const std::shared_ptr<const model::Archive>& archive) {
  MILLRACE_RETURN_IF_ERROR(columns_of(*archive).status());
  return Decoder(archive).run();
}

Status verify_constants(const model::Archive& archive) {
  const auto& segments = *archive.root().segments();
  for (uint32_t i = 0; i < segments.size(); ++i)
    if (segments[i]->kind() == format::SegmentKind::Constant)
      MILLRACE_RETURN_IF_ERROR(archive.verify_segment(i));
  return {};
}

Result<CompiledModel> decode(const std::shared_ptr<const model::Archive>& archive) {
  MILLRACE_ASSIGN_OR_RETURN(CompiledModel model, decode_unverified(archive));
  // Checksums are compared last, since that reads all weights.
  MILLRACE_RETURN_IF_ERROR(verify_constants(*archive));
  return model;
}

}  // namespace millrace::graph
