// Reads the attributes of an operator from the fields of its table, in order. encode_operator.cpp
// holds the opposite direction, and checks that both have the same names. Values are not checked
// here beyond enumerators: the shape functions refuse bad attributes.
#include "graph/archive/decode_operator.h"

#include <utility>

namespace millrace::graph {
namespace {

using Reader = StructureReader;

// read() converts a field of a table to the attribute that it holds.

template <class Element>
void read(const flatbuffers::Vector<Element>* field, std::vector<Element>& attribute,
          Reader& reader) {
  attribute = reader.list(*field);
}

template <class From, class To>
void read(From field, To& attribute, Reader& reader) {
  if constexpr (std::is_enum_v<To>) {
    attribute = reader.enumerator<To>(title_of(To()), field);
  } else {
    attribute = To{field};  // in braces, since these refuse a field of a wider type
  }
}

void read(const format::Activation* field, Activation& attribute, Reader& reader) {
  read(field->kind(), attribute.kind, reader);
  attribute.alpha = field->alpha();
  attribute.beta = field->beta();
}

// Reads all fields of a table, by their indices.
template <class Table, class Op, size_t... index, class... T>
void read_fields(const Table& table, Op& op, Reader& reader, std::index_sequence<index...>,
                 const Member<Op, T>&... attributes) {
  (read(table.template get_field<index>(), op.*attributes.value, reader), ...);
}

template <class Op, class Table>
Op decode(const Table& table, Reader& reader) {
  Op op;
  Op::attributes([&](const auto&... attributes) {
    read_fields(table, op, reader, std::make_index_sequence<sizeof...(attributes)>(),
                attributes...);
  });
  return op;
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

template <>
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
  switch (node.op_type()) {
#define MILLRACE_X(Op)       \
  case format::Operator::Op: \
    return decode<Op>(*node.op_as_##Op(), reader);
    MILLRACE_GRAPH_OPERATORS(MILLRACE_X)
#undef MILLRACE_X
    case format::Operator::NONE:
      break;
  }
  reader.fail(fmt::format("operator {} does not exist", static_cast<int>(node.op_type())));
  return {};
}

}  // namespace millrace::graph
