// An operator is encoded as the table of its name, with a field for each attribute. The functions
// that write tables, and what is known of their fields, are in the Traits that flatc generates.
// decode_operator.cpp holds the opposite direction.
#include "graph/archive/encode_operator.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

namespace millrace::graph {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// The table of an operator: the one that has the name of the struct.
template <class Op>
struct TableOf;
#define MILLRACE_X(Op)       \
  template <>                \
  struct TableOf<Op> {       \
    using Type = format::Op; \
  };
MILLRACE_GRAPH_OPERATORS(MILLRACE_X)
#undef MILLRACE_X

// Whether the fields of the table have the names of these attributes, in the same order.
template <class Table>
struct HasFields {
  constexpr bool operator()(const auto&... attributes) const {
    using Traits = typename Table::Traits;
    constexpr auto kCount = sizeof...(attributes);
    const std::array<std::string_view, kCount> names = {attributes.name...};
    return std::equal(names.begin(), names.end(), Traits::field_names.begin(),
                      Traits::field_names.end());
  }
};

// field() converts an attribute to what the generated function Create() takes for its field.

template <class T>
auto field(Builder&, T attribute) {
  if constexpr (std::is_enum_v<T>) {
    return schema_enumerator(attribute);
  } else {
    return attribute;
  }
}

template <class Element>
Offset<flatbuffers::Vector<Element>> field(Builder& builder,
                                           const std::vector<Element>& attribute) {
  return builder.CreateVector(attribute);
}

// Create() takes a structure by its address.
struct ActivationField {
  operator const format::Activation*() const { return &value; }
  format::Activation value;
};

ActivationField field(Builder&, const Activation& attribute) {
  return {{schema_enumerator(attribute.kind), attribute.alpha, attribute.beta}};
}

template <class Op>
auto encode(Builder& builder, const Op& op) {
  using Table = typename TableOf<Op>::Type;
  static_assert(Op::attributes(HasFields<Table>()),
                "the struct and the table in archive.fbs have different attributes");
  return Op::attributes([&](const auto&... attributes) {
    // Braces evaluate in order, and the order decides where lists lie in the archive.
    const std::tuple fields{field(builder, op.*attributes.value)...};
    return std::apply(
        [&](const auto&... values) { return Table::Traits::Create(builder, values...); }, fields);
  });
}

// The lists of the table Attribute. The list that corresponds to the AttributeKind holds the value,
// and the others are empty.
struct AttributeLists {
  std::vector<int64_t> integers;
  std::vector<float> floats;
  std::vector<std::string> texts;

  void operator()(int64_t value) { integers = {value}; }
  void operator()(float value) { floats = {value}; }
  void operator()(const std::string& value) { texts = {value}; }
  void operator()(const Dims& values) { integers = values; }
  void operator()(const std::vector<float>& values) { floats = values; }
  void operator()(const std::vector<std::string>& values) { texts = values; }
};

auto encode(Builder& builder, const Fallback& op) {
  std::vector<flatbuffers::Offset<format::Attribute>> attributes;
  for (const Attribute& attribute : op.attributes) {
    attributes.push_back(encode_attribute(builder, attribute));
  }
  return format::CreateFallbackDirect(builder, op.name.c_str(), &attributes);
}

template <class Table>
EncodedOperator as_union(Offset<Table> table) {
  return {format::OperatorTraits<Table>::enum_value, table.Union()};
}

}  // namespace

flatbuffers::Offset<format::Value> encode_value(Builder& builder, const Value& value,
                                                uint32_t& next_segment) {
  flatbuffers::Optional<uint32_t> constant;
  if (value.constant) constant = next_segment++;
  flatbuffers::Offset<format::Quantisation> quantisation;
  if (value.quantisation) {
    quantisation = format::CreateQuantisationDirect(builder, &value.quantisation->scales,
                                                    &value.quantisation->zero_points,
                                                    value.quantisation->axis);
  }
  return format::CreateValueDirect(builder, value.name.c_str(),
                                   enum_cast<format::DataType>(value.type), &value.shape, constant,
                                   quantisation);
}

flatbuffers::Offset<format::Attribute> encode_attribute(Builder& builder,
                                                        const Attribute& attribute) {
  AttributeLists lists;
  std::visit(lists, attribute.value);
  const auto name = builder.CreateString(attribute.name);
  const auto integers = builder.CreateVector(lists.integers);
  const auto floats = builder.CreateVector(lists.floats);
  const auto texts = builder.CreateVectorOfStrings(lists.texts);
  const auto kind = static_cast<format::AttributeKind>(attribute.value.index());
  return format::CreateAttribute(builder, name, kind, integers, floats, texts);
}

EncodedOperator encode_operator(Builder& builder, const Operator& op) {
  return std::visit([&](const auto& attributes) { return as_union(encode(builder, attributes)); },
                    op);
}

}  // namespace millrace::graph
