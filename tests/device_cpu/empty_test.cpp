// Tensors without elements: they take no memory, and no step but those that others need.
#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using graph::Dims;
using graph::PartitionKind;
using graph::ValueId;
using tensor::DataType;
using ::testing::ElementsAre;

const graph::Unary kNegate{{graph::UnaryKind::kNeg, 0, 0}};

class Empty : public ::testing::TestWithParam<DataType> {};

TEST_P(Empty, PassesThroughAModel) {
  ModelBuilder builder;
  const ValueId x = builder.input({2, 0, 3, 4}, GetParam());
  const ValueId moved = builder.node(graph::Transpose{{0, 2, 3, 1}}, {x});
  builder.output(builder.node(graph::Reshape{{0, 7}}, {moved}));
  builder.output(builder.node(graph::Unary{}, {x}));
  const auto program = load(builder.build());
  EXPECT_EQ(program->info().steps.size(), 0u);
  const std::vector<Tensor> y = run(*program, {Tensor::zeros({2, 0, 3, 4})});
  EXPECT_EQ(y[0].dims, (Dims{0, 7}));
  EXPECT_EQ(y[1].dims, (Dims{2, 0, 3, 4}));
}

TEST_P(Empty, IsNoPartOfAConcatenation) {
  ModelBuilder builder;
  const ValueId empty = builder.input({2, 0}, GetParam());
  const ValueId pair = builder.input({2, 1}, GetParam());
  builder.output(builder.node(graph::Concat{1}, {empty, pair, empty, pair}));
  const Tensor y = run_model(builder.build(), {Tensor::zeros({2, 0}), {{2, 1}, {3, 4}}});
  EXPECT_THAT(y.data, ElementsAre(3, 3, 4, 4));
}

TEST_P(Empty, IsPaddedWithTheFillValue) {
  ModelBuilder builder;
  const ValueId x = builder.input({0, 2}, GetParam());
  builder.output(builder.node(graph::Pad{graph::PadMode::kConstant, {1, 0}, {0, 0}, 7}, {x}));
  EXPECT_THAT(run_model(builder.build(), {Tensor::zeros({0, 2})}).data, ElementsAre(7, 7));
}

TEST_P(Empty, HasNothingToGather) {
  ModelBuilder builder;
  const ValueId x = builder.input({0, 2}, GetParam());
  builder.output(builder.node(
      graph::Gather{0}, {x, builder.integers({1}, DataType::kInt64, std::vector<int64_t>{0})}));
  EXPECT_THROW(run_model(builder.build(), {Tensor::zeros({0, 2})}), std::runtime_error);
}

INSTANTIATE_TEST_SUITE_P(Types, Empty,
                         ::testing::Values(DataType::kFloat32, DataType::kInt64,
                                           DataType::kFloat64),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST(EmptyOperand, OfElementwiseFunctionsGivesNothing) {
  ModelBuilder builder(graph::Precision::kBf16);
  const ValueId x = builder.input({2, 0, 4, 4});
  const ValueId sum =
      builder.node(graph::Binary{graph::BinaryKind::kAdd}, {x, builder.input({1, 1, 1, 1})});
  builder.begin_partition(PartitionKind::kCpu);
  builder.output(builder.node(kNegate, {sum}));
  builder.output(builder.node(graph::Softmax{1, false}, {x}));
  const std::vector<Tensor> y =
      run(*load(builder.build()), {Tensor::zeros({2, 0, 4, 4}), {{1, 1, 1, 1}, {5}}});
  EXPECT_EQ(y[0].dims, (Dims{2, 0, 4, 4}));
}

TEST(EmptyOperand, OfASumIsRefusedFromTheGraphsOperators) {
  ModelBuilder builder;
  builder.output(builder.node(graph::MatMul{}, {builder.input({2, 0}), builder.input({0, 3})}));
  const Status status = cpu_device().load(builder.build()).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), ::testing::HasSubstr("MatMul over no elements"));
}

}  // namespace
}  // namespace millrace::device::cpu
