// The types that the CPU device states for each operator of the graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "device/cpu/capabilities/capabilities.h"

namespace millrace::device::cpu {
namespace {

using graph::Fallback;
using graph::Gather;
using graph::GlobalPool;
using graph::Operator;
using graph::Pool;
using graph::PoolKind;
using graph::Reduce;
using graph::ReduceKind;
using graph::Reshape;
using graph::Value;
using tensor::DataType;

template <size_t... kIndices>
std::vector<Operator> one_of_each(std::index_sequence<kIndices...>) {
  return {Operator(std::in_place_index<kIndices>)...};
}

Pool pool(PoolKind kind) {
  Pool op;
  op.kind = kind;
  return op;
}

Reduce reduce(ReduceKind kind) {
  Reduce op;
  op.kind = kind;
  return op;
}

// Every operator with every function it may compute.
std::vector<Operator> all_operators() {
  std::vector<Operator> all =
      one_of_each(std::make_index_sequence<std::variant_size_v<Operator>>());
  for (Operator& op : all)
    if (auto* fallback = std::get_if<Fallback>(&op)) fallback->name = "Fallback";
  for (int kind = 0; kind < graph::kUnaryKindCount; ++kind)
    all.emplace_back(graph::Unary{{static_cast<graph::UnaryKind>(kind)}});
  for (int kind = 0; kind < graph::kBinaryKindCount; ++kind)
    all.emplace_back(graph::Binary{static_cast<graph::BinaryKind>(kind)});
  for (int kind = 0; kind < graph::kReduceKindCount; ++kind)
    all.emplace_back(reduce(static_cast<graph::ReduceKind>(kind)));
  for (const PoolKind kind : {PoolKind::kMax, PoolKind::kAverage}) {
    all.emplace_back(pool(kind));
    all.emplace_back(GlobalPool{kind});
  }
  return all;
}

Status check(const Operator& op, const std::vector<DataType>& types) {
  std::vector<Value> values;
  for (const DataType type : types) values.push_back({"v", type, {1}, {}});
  std::vector<const Value*> operands;
  for (const Value& value : values) operands.push_back(&value);
  return capabilities().check(op, operands);
}

TEST(Capabilities, EveryOperatorHasARow) {
  for (const Operator& op : all_operators())
    EXPECT_STREQ(capabilities().types_of(op).op, name_of(op));
}

TEST(Capabilities, EveryRowIsThatOfAnOperator) {
  for (const graph::OperatorTypes& row : capabilities().operators()) {
    const bool used = std::ranges::any_of(
        all_operators(), [&](const Operator& op) { return &capabilities().types_of(op) == &row; });
    EXPECT_TRUE(used) << row.op << ' ' << (row.function != nullptr ? row.function : "");
  }
}

TEST(Capabilities, EveryOperatorTakesFloats) {
  for (const Operator& op : all_operators())
    for (const DataType type : {DataType::kFloat32, DataType::kFp16, DataType::kBf16})
      EXPECT_TRUE(capabilities().types_of(op).first.contains(type)) << name_of(op);
}

TEST(Capabilities, TheFirstOperandAndTheOthersMayDiffer) {
  EXPECT_TRUE(check(Gather{}, {DataType::kBoolean, DataType::kInt32}).ok());
  EXPECT_FALSE(check(Gather{}, {DataType::kInt32, DataType::kFloat32}).ok());
}

TEST(Capabilities, AFunctionMayTakeMoreThanTheOthersOfItsOperator) {
  EXPECT_TRUE(check(pool(PoolKind::kMax), {DataType::kInt8}).ok());
  EXPECT_TRUE(check(pool(PoolKind::kMax), {DataType::kUint8}).ok());
  EXPECT_FALSE(check(pool(PoolKind::kMax), {DataType::kInt32}).ok());
  EXPECT_FALSE(check(pool(PoolKind::kAverage), {DataType::kInt8}).ok());
}

TEST(Capabilities, TypesOutsideTheListAreInNoSet) {
  for (const int number : {0, 14, 40, 255})
    EXPECT_FALSE(check(Reshape{}, {static_cast<DataType>(number)}).ok()) << number;
}

}  // namespace
}  // namespace millrace::device::cpu
