// One overload of encode() per operator; decode_operator.cpp holds the opposite direction.
#include "graph/archive/encode_operator.h"

namespace millrace::graph {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;

format::Activation encoded(const Activation& activation) {
  return {enum_cast<format::UnaryKind>(activation.kind), activation.alpha, activation.beta};
}

auto encode(Builder& builder, const Conv& op) {
  const auto activation = encoded(op.activation);
  return format::CreateConvDirect(builder, &op.strides, &op.dilations, &op.pads_begin, &op.pads_end,
                                  op.group, &activation);
}

auto encode(Builder& builder, const Pool& op) {
  return format::CreatePoolDirect(builder, enum_cast<format::PoolKind>(op.kind), &op.kernel,
                                  &op.strides, &op.dilations, &op.pads_begin, &op.pads_end,
                                  &op.ceil_excess, op.count_include_pad);
}

auto encode(Builder& builder, const GlobalPool& op) {
  return format::CreateGlobalPool(builder, enum_cast<format::PoolKind>(op.kind));
}

auto encode(Builder& builder, const MatMul& op) {
  const auto activation = encoded(op.activation);
  return format::CreateMatMul(builder, op.transpose_a, op.transpose_b, op.alpha, &activation);
}

auto encode(Builder& builder, const Unary& op) {
  const auto function = encoded(op.function);
  return format::CreateUnary(builder, &function);
}

auto encode(Builder& builder, const Binary& op) {
  return format::CreateBinary(builder, enum_cast<format::BinaryKind>(op.kind));
}

auto encode(Builder& builder, const BatchNormalization& op) {
  return format::CreateBatchNormalization(builder, op.epsilon);
}

auto encode(Builder& builder, const Softmax& op) {
  return format::CreateSoftmax(builder, op.axis, op.log);
}

auto encode(Builder& builder, const Concat& op) {
  return format::CreateConcat(builder, op.axis);
}

auto encode(Builder& builder, const Reshape& op) {
  return format::CreateReshapeDirect(builder, &op.shape);
}

auto encode(Builder& builder, const Transpose& op) {
  return format::CreateTransposeDirect(builder, &op.permutation);
}

auto encode(Builder& builder, const Slice& op) {
  return format::CreateSliceDirect(builder, &op.begin, &op.size, &op.step);
}

auto encode(Builder& builder, const Gather& op) {
  return format::CreateGather(builder, op.axis);
}

auto encode(Builder& builder, const Pad& op) {
  return format::CreatePadDirect(builder, enum_cast<format::PadMode>(op.mode), &op.begin, &op.end,
                                 op.value);
}

auto encode(Builder& builder, const Resize& op) {
  return format::CreateResizeDirect(builder, enum_cast<format::ResizeMode>(op.mode),
                                    enum_cast<format::CoordinateMode>(op.coordinates),
                                    enum_cast<format::NearestMode>(op.nearest), &op.shape,
                                    &op.scales);
}

auto encode(Builder& builder, const Reduce& op) {
  return format::CreateReduceDirect(builder, enum_cast<format::ReduceKind>(op.kind), &op.axes,
                                    op.keep_dims);
}

auto encode(Builder& builder, const Cast& op) {
  return format::CreateCast(builder, enum_cast<format::DataType>(op.to));
}

auto encode(Builder& builder, const Requantise&) {
  return format::CreateRequantise(builder);
}

auto encode(Builder& builder, const Expand& op) {
  return format::CreateExpandDirect(builder, &op.shape);
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
EncodedOperator as_union(flatbuffers::Offset<Table> table) {
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
