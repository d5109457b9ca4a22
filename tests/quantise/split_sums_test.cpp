// Networks with residual connections, as other runtimes want them quantised.
#include "quantise/rewrite/split_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "lowering/assemble.h"
#include "quantise/quantise.h"
#include "small_network.h"

namespace millrace::quantise {
namespace {

using ::testing::ElementsAre;

// x -> first (Relu) -> second, plus first, Relu -> last.
graph::Graph residual_graph() {
  graph::Graph graph;
  const graph::ValueId x =
      graph.add_value({"x", tensor::DataType::kFloat32, {1, 3, 8, 8}, std::nullopt});
  graph.inputs = {x};
  const graph::ValueId a = add_conv(graph, "first", x, 8, graph::UnaryKind::kRelu, 1);
  const graph::ValueId b = add_conv(graph, "second", a, 8, graph::UnaryKind::kRelu, 3);
  graph.nodes.back().inputs.push_back(a);
  graph.outputs = {add_conv(graph, "last", b, 4, graph::UnaryKind::kIdentity, 5)};
  return graph;
}

std::vector<std::string> operators_of(const graph::Graph& graph) {
  std::vector<std::string> names;
  for (const graph::Node& node : graph.nodes) names.push_back(graph::name_of(node.op));
  return names;
}

TEST(SplitSums, AnAddAndTheFunctionFollowTheConvolution) {
  const graph::Graph graph = split_sums(residual_graph());
  ASSERT_TRUE(graph::validate(graph).ok());
  EXPECT_THAT(operators_of(graph), ElementsAre("Conv", "Conv", "Binary", "Unary", "Conv"));
  EXPECT_EQ(graph.values[graph.nodes[3].outputs[0]].name, "second_y");
}

TEST(SplitSums, AGraphWithoutSumsStaysAsItIs) {
  EXPECT_THAT(operators_of(split_sums(small_graph())), ElementsAre("Conv", "Conv", "Conv"));
}

// The sum itself is not rounded before it is cut off: no runtime would need that.
TEST(SplitSums, AreQuantisedBeforeTheSumAndBehindItsFunction) {
  const auto model = lowering::assemble(split_sums(residual_graph()), {}, "residual");
  ASSERT_TRUE(model.ok()) << model.status().message();
  QuantiseOptions options;
  options.finish = finish;
  const auto made = quantise(*model, random_samples(4), options);
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT(operators_of(made->explicit_graph),
              ElementsAre("Requantise", "Requantise", "Conv", "Requantise", "Requantise", "Conv",
                          "Requantise", "Requantise", "Binary", "Unary", "Requantise", "Requantise",
                          "Conv"));
  // The kernels on integers saturate at zero, and need no function for that.
  EXPECT_THAT(operators_of(made->model.graph),
              ElementsAre("Requantise", "Conv", "Conv", "Binary", "Conv"));
  EXPECT_GT(made->outputs.worst_cosine, 0.99);
}

}  // namespace
}  // namespace millrace::quantise
