// Tests of graph::Capabilities, on a device that is made up.
#include "graph/capabilities.h"

#include <gmock/gmock.h>

#include <array>
#include <vector>

namespace millrace::graph {
namespace {

using tensor::DataType;
using ::testing::HasSubstr;

constexpr TypeSet kFloats = {DataType::kFloat32, DataType::kFp16, DataType::kBf16};
constexpr OperatorTypes kOperators[] = {
    {"Conv", nullptr, kFloats, kFloats},   {"Unary", nullptr, kFloats, {}},
    {"Binary", nullptr, kFloats, kFloats}, {"Reshape", nullptr, {DataType::kInt64}, {}},
    {"Reduce", nullptr, kFloats, {}},
};
constexpr FastFallback kFastFallbacks[] = {{"Gelu", kFloats}};
constexpr Capabilities kCapabilities(kOperators, kFastFallbacks);

Reduce reduce(ReduceKind kind) {
  Reduce op;
  op.kind = kind;
  return op;
}

Status check(const Operator& op, const std::vector<DataType>& types) {
  std::vector<Value> values;
  for (const DataType type : types) values.push_back({"v", type, {1}, {}});
  std::vector<const Value*> operands;
  for (const Value& value : values) operands.push_back(&value);
  return kCapabilities.check(op, operands);
}

TEST(Capabilities, ARefusalNamesTheOperatorAndTheTypes) {
  const Status status = check(reduce(ReduceKind::kSum), {DataType::kInt32});
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.message(),
            "there is no kernel for Reduce Sum of INT32, only of BF16, FP16, FLOAT32");
  EXPECT_THAT(check(Binary{BinaryKind::kDiv}, {DataType::kUint8, DataType::kUint8}).message(),
              HasSubstr("for Div of UINT8"));
}

TEST(Capabilities, OperandsLeftOutHaveNoType) {
  const Value x{"x", DataType::kFloat32, {1}, {}};
  EXPECT_TRUE(kCapabilities.check(Conv{}, std::array<const Value*, 4>{&x, &x, nullptr, &x}).ok());
}

TEST(Capabilities, OfAGraphTheRefusalNamesEveryNode) {
  Graph graph;
  for (int i = 0; i < 4; ++i) graph.add_value({"v", DataType::kInt64, {1}, {}});
  graph.nodes.push_back({"first", Unary{{UnaryKind::kAbs}}, {0}, {1}});
  graph.nodes.push_back({"moves", Reshape{}, {1}, {2}});
  graph.nodes.push_back({"last", Binary{}, {2, 0}, {3}});
  const Status status = kCapabilities.check(graph);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("node 'first': there is no kernel for Abs of INT64"));
  EXPECT_THAT(status.message(), HasSubstr("node 'last': there is no kernel for Add of INT64"));
  EXPECT_THAT(status.message(), ::testing::Not(HasSubstr("'moves'")));
  graph.nodes.erase(graph.nodes.begin());
  graph.nodes.pop_back();
  EXPECT_TRUE(kCapabilities.check(graph).ok());
}

TEST(Capabilities, OfAFallbackTheFirstOperandDecidesWhetherTheNpuRunsIt) {
  Graph graph;
  const ValueId floats = graph.add_value({"floats", DataType::kFloat32, {1}, {}});
  const ValueId integers = graph.add_value({"integers", DataType::kInt64, {1}, {}});
  const auto runs_on_npu = [&](const Operator& op, std::vector<ValueId> inputs) {
    return kCapabilities.runs_on_npu(graph, {"node", op, std::move(inputs), {}});
  };
  EXPECT_TRUE(runs_on_npu(Fallback{"Gelu", {}}, {floats, integers}));
  EXPECT_FALSE(runs_on_npu(Fallback{"Gelu", {}}, {integers}));
  EXPECT_FALSE(runs_on_npu(Fallback{"Gelu", {}}, {kNoValue}));
  EXPECT_FALSE(runs_on_npu(Fallback{"Mod", {}}, {floats}));
  EXPECT_TRUE(runs_on_npu(Softmax{}, {floats}));
}

TEST(Capabilities, ADeviceWithoutKernelsRunsNothing) {
  const Value x{"x", DataType::kFloat32, {1}, {}};
  EXPECT_FALSE(Capabilities().check(Unary{}, std::array{&x}).ok());
}

}  // namespace
}  // namespace millrace::graph
