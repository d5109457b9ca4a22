// The table of what devices have kernels for.
#include "graph/capability.h"

#include <gmock/gmock.h>

#include <array>
#include <utility>

namespace millrace::graph {
namespace {

using tensor::DataType;
using ::testing::HasSubstr;

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
  for (int kind = 0; kind < kUnaryKindCount; ++kind)
    all.emplace_back(Unary{{static_cast<UnaryKind>(kind)}});
  for (int kind = 0; kind < kBinaryKindCount; ++kind)
    all.emplace_back(Binary{static_cast<BinaryKind>(kind)});
  for (int kind = 0; kind < kReduceKindCount; ++kind)
    all.emplace_back(reduce(static_cast<ReduceKind>(kind)));
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
  return check_capability(op, operands);
}

TEST(Capability, EveryOperatorHasARow) {
  for (const Operator& op : all_operators()) EXPECT_STREQ(capability_of(op).op, name_of(op));
}

TEST(Capability, EveryRowIsThatOfAnOperator) {
  for (const Capability& row : capabilities()) {
    const bool used = std::ranges::any_of(
        all_operators(), [&](const Operator& op) { return &capability_of(op) == &row; });
    EXPECT_TRUE(used) << row.op << ' ' << (row.function != nullptr ? row.function : "");
  }
}

TEST(Capability, EveryOperatorTakesFloats) {
  for (const Operator& op : all_operators())
    for (const DataType type : {DataType::kFloat32, DataType::kFp16, DataType::kBf16})
      EXPECT_TRUE(capability_of(op).first.contains(type)) << name_of(op);
}

TEST(Capability, TheFirstOperandAndTheOthersMayDiffer) {
  EXPECT_TRUE(check(Gather{}, {DataType::kBoolean, DataType::kInt32}).ok());
  EXPECT_FALSE(check(Gather{}, {DataType::kInt32, DataType::kFloat32}).ok());
}

TEST(Capability, AFunctionMayTakeMoreThanTheOthersOfItsOperator) {
  EXPECT_TRUE(check(pool(PoolKind::kMax), {DataType::kInt8}).ok());
  EXPECT_TRUE(check(pool(PoolKind::kMax), {DataType::kUint8}).ok());
  EXPECT_FALSE(check(pool(PoolKind::kMax), {DataType::kInt32}).ok());
  EXPECT_FALSE(check(pool(PoolKind::kAverage), {DataType::kInt8}).ok());
}

TEST(Capability, ARefusalNamesTheOperatorAndTheTypes) {
  const Status status = check(reduce(ReduceKind::kSum), {DataType::kInt32});
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.message(),
            "there is no kernel for Reduce Sum of INT32, only of BF16, FP16, FLOAT32");
  EXPECT_THAT(check(Binary{BinaryKind::kDiv}, {DataType::kUint8, DataType::kUint8}).message(),
              HasSubstr("for Div of UINT8"));
}

TEST(Capability, OperandsLeftOutHaveNoType) {
  const Value x{"x", DataType::kFloat32, {1}, {}};
  EXPECT_TRUE(check_capability(Conv{}, std::array<const Value*, 4>{&x, &x, nullptr, &x}).ok());
}

TEST(Capability, TypesOutsideTheListAreInNoSet) {
  for (const int number : {0, 14, 40, 255})
    EXPECT_FALSE(check(Reshape{}, {static_cast<DataType>(number)}).ok()) << number;
}

TEST(Capability, OfAGraphTheRefusalNamesEveryNode) {
  Graph graph;
  for (int i = 0; i < 4; ++i) graph.add_value({"v", DataType::kInt64, {1}, {}});
  graph.nodes.push_back({"first", Unary{{UnaryKind::kAbs}}, {0}, {1}});
  graph.nodes.push_back({"moves", Reshape{}, {1}, {2}});
  graph.nodes.push_back({"last", Binary{}, {2, 0}, {3}});
  const Status status = check_capabilities(graph);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("node 'first': there is no kernel for Abs of INT64"));
  EXPECT_THAT(status.message(), HasSubstr("node 'last': there is no kernel for Add of INT64"));
  EXPECT_THAT(status.message(), ::testing::Not(HasSubstr("'moves'")));
  graph.nodes.erase(graph.nodes.begin());
  graph.nodes.pop_back();
  EXPECT_TRUE(check_capabilities(graph).ok());
}

}  // namespace
}  // namespace millrace::graph
