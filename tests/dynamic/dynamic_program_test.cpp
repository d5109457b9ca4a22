// Programs whose shapes follow from what a job binds and computes.
#include "runtime/dynamic/dynamic_program.h"

#include <gmock/gmock.h>

#include <thread>

#include "tests/dynamic/networks.h"

namespace millrace::runtime {
namespace {

using tensor::DataType;
using test::attribute;
using test::floats;
using test::input;
using test::int64s;
using test::network_of;
using test::node;
using test::output;
using test::Runner;
using test::Tensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

network::Network relu_of_rows() {
  return network_of({input("x", DataType::kFloat32, {-1, 2})}, {node("Relu", {"x"}, {"y"})},
                    {output("y", DataType::kFloat32)});
}

TEST(DynamicProgram, RunsEachShapeThatAJobBinds) {
  Runner runner(relu_of_rows());
  ASSERT_TRUE(runner.loaded().ok()) << runner.loaded().to_string();
  for (const int64_t rows : {1, 3, 2}) {
    const std::vector<float> x(static_cast<size_t>(rows) * 2, -1.0f);
    const auto outputs = runner.run({floats({rows, 2}, x)});
    ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
    EXPECT_THAT((*outputs)[0].shape, ElementsAre(rows, 2));
    EXPECT_THAT((*outputs)[0].as<float>(), ::testing::Each(0.0f));
  }
}

// An empty vector is joined to another one, and the sum over no elements is computed.
TEST(DynamicProgram, TakesEmptyVectors) {
  network::Network network =
      network_of({input("x", DataType::kFloat32, {-1}), input("z", DataType::kFloat32, {-1})},
                 {node("Concat", {"x", "z"}, {"joined"}, {attribute("axis", int64_t{0})}),
                  node("ReduceSum", {"joined"}, {"sum"}, {attribute("keepdims", int64_t{0})})},
                 {output("joined", DataType::kFloat32), output("sum", DataType::kFloat32)});
  Runner runner(std::move(network));
  ASSERT_TRUE(runner.loaded().ok()) << runner.loaded().to_string();
  for (const auto& [x, sum] : {std::pair<std::vector<float>, float>{{}, 0}, {{3, 4}, 7}}) {
    const auto size = static_cast<int64_t>(x.size());
    const auto outputs = runner.run({floats({size}, x), floats({0}, {})});
    ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
    EXPECT_THAT((*outputs)[0].shape, ElementsAre(size));
    EXPECT_EQ((*outputs)[0].as<float>(), x);
    EXPECT_THAT((*outputs)[1].as<float>(), ElementsAre(sum));
  }
}

TEST(DynamicProgram, KeepsThePlanOfAShape) {
  Runner runner(relu_of_rows());
  for (const int64_t rows : {1, 3, 1, 3}) {
    const std::vector<float> x(static_cast<size_t>(rows) * 2, 1.0f);
    ASSERT_TRUE(runner.run({floats({rows, 2}, x)}).ok());
  }
  EXPECT_EQ(runner.counters().made, 2u);
  EXPECT_EQ(runner.counters().found, 2u);
}

TEST(DynamicProgram, LowersAtOnceWhatNeedsNoJob) {
  Runner runner(network_of({input("x", DataType::kFloat32, {2, 2})}, {node("Relu", {"x"}, {"y"})},
                           {output("y", DataType::kFloat32)}));
  EXPECT_EQ(runner.counters().made, 1u);
  ASSERT_TRUE(runner.run({floats({2, 2}, {1, -1, 2, -2})}).ok());
  EXPECT_EQ(runner.counters().made, 1u);
}

TEST(DynamicProgram, LowersNothingYetThatNeedsElementsOfAJob) {
  Runner runner(
      network_of({input("x", DataType::kFloat32, {4}), input("shape", DataType::kInt64, {2})},
                 {node("Reshape", {"x", "shape"}, {"y"})}, {output("y", DataType::kFloat32)}));
  ASSERT_TRUE(runner.loaded().ok()) << runner.loaded().to_string();
  EXPECT_EQ(runner.counters().made, 0u);
  const auto outputs = runner.run({floats({4}, {1, 2, 3, 4}), int64s({2}, {2, 2})});
  ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
  EXPECT_THAT((*outputs)[0].shape, ElementsAre(2, 2));
}

TEST(DynamicProgram, EvictsThePlanThatWasNotUsedForTheLongestTime) {
  ::setenv("MILLRACE_PLANS", "2", 1);
  Runner runner(relu_of_rows());
  ::unsetenv("MILLRACE_PLANS");
  for (const int64_t rows : {1, 2, 1, 3, 1}) {
    const std::vector<float> x(static_cast<size_t>(rows) * 2, 1.0f);
    ASSERT_TRUE(runner.run({floats({rows, 2}, x)}).ok());
  }
  EXPECT_EQ(runner.counters().made, 3u);
  EXPECT_EQ(runner.counters().evicted, 1u);
  EXPECT_EQ(runner.counters().found, 2u);
}

TEST(DynamicProgram, RefusesANumberOfPlansThatMakesNoSense) {
  ::setenv("MILLRACE_PLANS", "none", 1);
  const Runner runner(relu_of_rows());
  ::unsetenv("MILLRACE_PLANS");
  EXPECT_EQ(runner.loaded().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(runner.loaded().message(), HasSubstr("MILLRACE_PLANS"));
}

TEST(DynamicProgram, ReshapesToAShapeThatTheJobBinds) {
  Runner runner(
      network_of({input("x", DataType::kFloat32, {2, 3}), input("shape", DataType::kInt64, {2})},
                 {node("Relu", {"x"}, {"r"}), node("Reshape", {"r", "shape"}, {"y"})},
                 {output("y", DataType::kFloat32)}));
  ASSERT_TRUE(runner.loaded().ok()) << runner.loaded().to_string();
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, -6});
  for (const auto& [shape, expected] :
       {std::pair<std::vector<int64_t>, graph::Dims>{{3, 2}, {3, 2}}, {{-1, 6}, {1, 6}}}) {
    const auto outputs = runner.run({x, int64s({2}, shape)});
    ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
    EXPECT_EQ((*outputs)[0].shape, expected);
    EXPECT_THAT((*outputs)[0].as<float>(), ElementsAre(1, 2, 3, 4, 5, 0));
  }
}

TEST(DynamicProgram, ComputesShapesOnTheWay) {
  // y: the elements of x above 1, and their number doubled as the shape of zeros.
  Runner runner(network_of(
      {input("x", DataType::kFloat32, {-1})},
      {node("Relu", {"x"}, {"r"}), node("NonZero", {"r"}, {"positions"}),
       node("Shape", {"positions"}, {"size"}), node("Add", {"size", "size"}, {"double"}),
       node("ConstantOfShape", {"double"}, {"zeros"}), node("Transpose", {"positions"}, {"y"})},
      {output("y", DataType::kInt64), output("zeros", DataType::kFloat32)}));
  for (const auto& [x, expected] :
       {std::pair<std::vector<float>, std::vector<int64_t>>{{0, 4, -1, 5}, {1, 3}},
        {{-2, -1, 3}, {2}},
        {{7, 7}, {0, 1}}}) {
    const auto outputs = runner.run({floats({static_cast<int64_t>(x.size())}, x)});
    ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
    const auto count = static_cast<int64_t>(expected.size());
    EXPECT_THAT((*outputs)[0].shape, ElementsAre(count, 1));
    EXPECT_EQ((*outputs)[0].as<int64_t>(), expected);
    EXPECT_THAT((*outputs)[1].shape, ElementsAre(2, 2 * count));
  }
}

TEST(DynamicProgram, HandsOutInputsAndConstants) {
  network::Network network =
      network_of({input("x", DataType::kFloat32, {-1})}, {node("NonZero", {"x"}, {"positions"})},
                 {output("x", DataType::kFloat32), output("one", DataType::kFloat32),
                  output("positions", DataType::kInt64)});
  graph::Value one{"one", DataType::kFloat32, {1}, graph::Constant::of(std::vector<float>{1})};
  network.initializers.push_back(std::move(one));
  Runner runner(std::move(network));
  const auto outputs = runner.run({floats({2}, {0, 8})});
  ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
  EXPECT_THAT((*outputs)[0].as<float>(), ElementsAre(0, 8));
  EXPECT_THAT((*outputs)[1].as<float>(), ElementsAre(1));
  EXPECT_THAT((*outputs)[2].as<int64_t>(), ElementsAre(1));
}

TEST(DynamicProgram, StatesTheShapeOfAnOutputThatDoesNotFit) {
  Runner runner(relu_of_rows());
  const auto outputs = runner.run({floats({3, 2}, {1, 2, 3, 4, 5, 6})}, 23);
  EXPECT_EQ(outputs.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(outputs.status().message(), HasSubstr("24 bytes"));
  EXPECT_THAT(outputs.status().message(), HasSubstr("23"));
  EXPECT_EQ(runner.stated_shapes()[0], (TensorShape{2, {3, 2}}));
}

TEST(DynamicProgram, NamesTheNodeThatCannotRun) {
  Runner runner(
      network_of({input("x", DataType::kFloat32, {-1}), input("shape", DataType::kInt64, {1})},
                 {node("Reshape", {"x", "shape"}, {"y"})}, {output("y", DataType::kFloat32)}));
  const auto outputs = runner.run({floats({4}, {1, 2, 3, 4}), int64s({1}, {5})});
  EXPECT_EQ(outputs.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(outputs.status().message(), HasSubstr("'y' (Reshape)"));
  EXPECT_TRUE(runner.run({floats({4}, {1, 2, 3, 4}), int64s({1}, {4})}).ok());
}

TEST(DynamicProgram, LanesShareItsPlans) {
  const auto device = device::open_device("cpu", {.lanes = 1}).value();
  const auto program =
      load_dynamic(*device,
                   std::make_shared<const graph::CompiledModel>(test::model_of(relu_of_rows())))
          .value();
  const auto work = [&](int64_t first) {
    const auto context = program->create_context().value();
    for (int64_t i = 0; i < 20; ++i) {
      const int64_t rows = (first + i) % 5 + 1;
      std::vector<float> x(static_cast<size_t>(rows) * 2, -1.0f);
      std::vector<float> y(x.size(), 5.0f);
      TensorShape shape{2, {static_cast<uint32_t>(rows), 2}};
      TensorShape stated;
      const device::Binding from{x.data(), View::kCpu, x.size() * sizeof(float), &shape};
      const device::Binding to{y.data(), View::kCpu, y.size() * sizeof(float), &stated};
      queue::RunControl control;
      EXPECT_TRUE(context->run({&from, 1}, {&to, 1}, control).ok());
      EXPECT_EQ(stated, shape);
      EXPECT_THAT(y, ::testing::Each(0.0f));
    }
  };
  std::thread other(work, 3);
  work(0);
  other.join();
  EXPECT_EQ(plan_counters(*program).made, 5u);
}

}  // namespace
}  // namespace millrace::runtime
