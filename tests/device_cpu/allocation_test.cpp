// A run allocates nothing of its own. (Executing a primitive, oneDNN makes small allocations; the
// steps here are those of the device itself.)
#include <gtest/gtest.h>

#include <vector>

#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"
#include "tests/support/counting_new.h"
#include "tests/support/test_run.h"

namespace millrace::device::cpu {
namespace {

TEST(Run, AllocatesNothing) {
  ModelBuilder builder;
  const graph::ValueId x = builder.input({4, 6});
  const graph::ValueId index = builder.input({3}, tensor::DataType::kInt64);
  const graph::ValueId rows = builder.node(graph::Gather{0}, {x, index});
  const graph::ValueId flipped = builder.node(graph::Slice{{0, 5}, {3, 6}, {1, -1}}, {rows});
  const graph::ValueId rounded =
      builder.node(graph::Unary{{graph::UnaryKind::kFloor, 0, 0}}, {flipped});
  const graph::ValueId scale = builder.constant({{}, {0.25f}}),
                       half = builder.constant({{}, {0.5f}});
  const graph::ValueId bytes = builder.fallback({"QuantizeLinear", {}}, {rounded, scale})[0];
  const graph::ValueId halves = builder.fallback({"DequantizeLinear", {}}, {bytes, half})[0];
  const graph::ValueId ones = builder.constant({{6}, {1, 1, 1, 1, 1, 1}});
  const graph::ValueId normal =
      builder.fallback({"InstanceNormalization", {}}, {halves, ones, ones})[0];
  builder.output(builder.node(graph::Reduce{graph::ReduceKind::kSum, {1}, false}, {normal}));
  const auto program = load(builder.build());
  for (const StepInfo& step : program->info().steps)
    ASSERT_EQ(step.implementation.rfind("millrace:", 0), 0u) << step.implementation;

  std::vector<float> data = Tensor::numbers({4, 6}, 1).data, result(3);
  std::vector<int64_t> indices = {3, 0, 1};
  const Binding inputs[] = {{data.data(), View::kCpu}, {indices.data(), View::kCpu}};
  const Binding outputs[] = {{result.data(), View::kCpu}};
  const auto context = program->create_context().value();
  test::TestRun control;
  ASSERT_TRUE(context->run(inputs, outputs, control).ok());
  const size_t before = test::allocation_count();
  ASSERT_GT(before, 0u) << "allocations are not counted";
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(context->run(inputs, outputs, control).ok());
  EXPECT_EQ(test::allocation_count(), before);
}

}  // namespace
}  // namespace millrace::device::cpu
