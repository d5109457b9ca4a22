// One overload of decode() per operator turns its table into the struct of graph/operators.h.
// encode_operator.cpp holds the opposite direction. Values are not checked here beyond enumerators:
// the shape functions refuse bad attributes.
#include "graph/archive/decode_operator.h"

namespace millrace::graph {
namespace {

using Reader = StructureReader;

Activation decode(const format::Activation& table, Reader& reader) {
  return {reader.enumerator<UnaryKind>("activation", table.kind()), table.alpha(), table.beta()};
}

PoolKind decode_pool_kind(format::PoolKind kind, Reader& reader) {
  return reader.enumerator<PoolKind>("pool kind", kind);
}

Conv decode(const format::Conv& table, Reader& reader) {
  return {.strides = reader.list(*table.strides()),
          .dilations = reader.list(*table.dilations()),
          .pads_begin = reader.list(*table.pads_begin()),
          .pads_end = reader.list(*table.pads_end()),
          .group = table.group(),
          .activation = decode(*table.activation(), reader)};
}

Pool decode(const format::Pool& table, Reader& reader) {
  return {.kind = decode_pool_kind(table.kind(), reader),
          .kernel = reader.list(*table.kernel()),
          .strides = reader.list(*table.strides()),
          .dilations = reader.list(*table.dilations()),
          .pads_begin = reader.list(*table.pads_begin()),
          .pads_end = reader.list(*table.pads_end()),
          .ceil_excess = reader.list(*table.ceil_excess()),
          .count_include_pad = table.count_include_pad()};
}

GlobalPool decode(const format::GlobalPool& table, Reader& reader) {
  return {.kind = decode_pool_kind(table.kind(), reader)};
}

MatMul decode(const format::MatMul& table, Reader& reader) {
  return {.transpose_a = table.transpose_a(),
          .transpose_b = table.transpose_b(),
          .alpha = table.alpha(),
          .activation = decode(*table.activation(), reader)};
}

Unary decode(const format::Unary& table, Reader& reader) {
  return {.function = decode(*table.function(), reader)};
}

Binary decode(const format::Binary& table, Reader& reader) {
  return {.kind = reader.enumerator<BinaryKind>("binary kind", table.kind())};
}

BatchNormalization decode(const format::BatchNormalization& table, Reader&) {
  return {.epsilon = table.epsilon()};
}

Softmax decode(const format::Softmax& table, Reader&) {
  return {.axis = table.axis(), .log = table.log()};
}

Concat decode(const format::Concat& table, Reader&) {
  return {.axis = table.axis()};
}

Reshape decode(const format::Reshape& table, Reader& reader) {
  return {.shape = reader.list(*table.shape())};
}

Transpose decode(const format::Transpose& table, Reader& reader) {
  return {.permutation = reader.list(*table.permutation())};
}

Slice decode(const format::Slice& table, Reader& reader) {
  return {.begin = reader.list(*table.begin()),
          .size = reader.list(*table.size()),
          .step = reader.list(*table.step())};
}

Gather decode(const format::Gather& table, Reader&) {
  return {.axis = table.axis()};
}

Pad decode(const format::Pad& table, Reader& reader) {
  return {.mode = reader.enumerator<PadMode>("pad mode", table.mode()),
          .begin = reader.list(*table.begin()),
          .end = reader.list(*table.end()),
          .value = table.value()};
}

Resize decode(const format::Resize& table, Reader& reader) {
  return {
      .mode = reader.enumerator<ResizeMode>("resize mode", table.mode()),
      .coordinates = reader.enumerator<CoordinateMode>("coordinate mode", table.coordinates()),
      .nearest = reader.enumerator<NearestMode>("nearest mode", table.nearest()),
      .shape = reader.list(*table.shape()),
      .scales = reader.list(*table.scales()),
  };
}

Reduce decode(const format::Reduce& table, Reader& reader) {
  return {.kind = reader.enumerator<ReduceKind>("reduce kind", table.kind()),
          .axes = reader.list(*table.axes()),
          .keep_dims = table.keep_dims()};
}

Cast decode(const format::Cast& table, Reader& reader) {
  return {.to = reader.enumerator<tensor::DataType>("data type", table.to())};
}

Expand decode(const format::Expand& table, Reader& reader) {
  return {.shape = reader.list(*table.shape())};
}

// Returns the only element of a list; fails if there is none, or several.
template <class Vector>
auto only_element(const Vector* list, Reader& reader) -> decltype(list->Get(0)) {
  if (list != nullptr && list->size() == 1) return list->Get(0);
  reader.fail("an attribute must have exactly one value");
  return {};
}

template <class Vector>
auto whole_list(const Vector* list, Reader& reader) {
  return list == nullptr ? decltype(reader.list(*list)){} : reader.list(*list);
}

std::vector<std::string> texts_of(const format::Attribute& table, Reader& reader) {
  std::vector<std::string> texts;
  if (table.texts() == nullptr) return texts;
  for (const flatbuffers::String* text : *table.texts()) texts.push_back(reader.text(*text));
  return texts;
}

std::string only_text(const format::Attribute& table, Reader& reader) {
  const flatbuffers::String* text = only_element(table.texts(), reader);
  return text == nullptr ? std::string() : reader.text(*text);
}

Attribute::Value decode_value(const format::Attribute& table, Reader& reader) {
  using Kind = format::AttributeKind;
  switch (table.kind()) {
    case Kind::Integer:
      return only_element(table.integers(), reader);
    case Kind::Float:
      return only_element(table.floats(), reader);
    case Kind::Text:
      return only_text(table, reader);
    case Kind::Integers:
      return whole_list(table.integers(), reader);
    case Kind::Floats:
      return whole_list(table.floats(), reader);
    case Kind::Texts:
      return texts_of(table, reader);
    case Kind::Tensor:
    case Kind::Graph:
      reader.fail("an attribute has no value, or one of a kind that its operator cannot have");
      return {};
  }
  reader.fail(fmt::format("attribute kind {} does not exist", static_cast<int>(table.kind())));
  return {};
}

Fallback decode(const format::Fallback& table, Reader& reader) {
  Fallback op{.name = reader.text(*table.name()), .attributes = {}};
  for (const format::Attribute* attribute : *table.attributes()) {
    if (!reader.status().ok()) break;
    op.attributes.push_back(decode_attribute(*attribute, reader));
  }
  return op;
}

}  // namespace

Attribute decode_attribute(const format::Attribute& table, StructureReader& reader) {
  return {reader.text(*table.name()), decode_value(table, reader)};
}

Operator decode_operator(const format::Node& node, StructureReader& reader) {
  using Type = format::Operator;
  switch (node.op_type()) {
    case Type::Conv:
      return decode(*node.op_as_Conv(), reader);
    case Type::Pool:
      return decode(*node.op_as_Pool(), reader);
    case Type::GlobalPool:
      return decode(*node.op_as_GlobalPool(), reader);
    case Type::MatMul:
      return decode(*node.op_as_MatMul(), reader);
    case Type::Unary:
      return decode(*node.op_as_Unary(), reader);
    case Type::Binary:
      return decode(*node.op_as_Binary(), reader);
    case Type::BatchNormalization:
      return decode(*node.op_as_BatchNormalization(), reader);
    case Type::Softmax:
      return decode(*node.op_as_Softmax(), reader);
    case Type::Concat:
      return decode(*node.op_as_Concat(), reader);
    case Type::Reshape:
      return decode(*node.op_as_Reshape(), reader);
    case Type::Transpose:
      return decode(*node.op_as_Transpose(), reader);
    case Type::Slice:
      return decode(*node.op_as_Slice(), reader);
    case Type::Gather:
      return decode(*node.op_as_Gather(), reader);
    case Type::Pad:
      return decode(*node.op_as_Pad(), reader);
    case Type::Resize:
      return decode(*node.op_as_Resize(), reader);
    case Type::Reduce:
      return decode(*node.op_as_Reduce(), reader);
    case Type::Cast:
      return decode(*node.op_as_Cast(), reader);
    case Type::Expand:
      return decode(*node.op_as_Expand(), reader);
    case Type::Fallback:
      return decode(*node.op_as_Fallback(), reader);
    case Type::Requantise:
      return Requantise{};
    case Type::NONE:
      break;
  }
  reader.fail(fmt::format("operator {} does not exist", static_cast<int>(node.op_type())));
  return {};
}

}  // namespace millrace::graph
