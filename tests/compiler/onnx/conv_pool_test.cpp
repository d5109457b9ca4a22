#include <gtest/gtest.h>

#include "tests/compiler/onnx_builder.h"

namespace millrace::compiler::test {
namespace {

struct WindowCase {
  const char* name;
  int opset;
  const char* type;
  Dims image;
  Attributes attributes;
  graph::Operator expected;
  Dims output;
};

void PrintTo(const WindowCase& test, std::ostream* out) {
  *out << test.name;
}

graph::Conv conv(Dims strides, Dims dilations, Dims begin, Dims end, int64_t group = 1) {
  return {std::move(strides), std::move(dilations), std::move(begin), std::move(end), group, {}};
}

graph::Pool pool(graph::PoolKind kind, Dims kernel, Dims strides, Dims begin, Dims end, Dims excess,
                 bool count_include_pad = false) {
  const Dims dilations(kernel.size(), 1);
  return {kind,           std::move(kernel), std::move(strides), dilations, std::move(begin),
          std::move(end), std::move(excess), count_include_pad};
}

constexpr auto kMax = graph::PoolKind::kMax;
constexpr auto kAverage = graph::PoolKind::kAverage;

class Windows : public testing::TestWithParam<WindowCase> {};

TEST_P(Windows, AttributesAreResolved) {
  const WindowCase& test = GetParam();
  Model model(test.opset);
  model.input("x", test.image).output("y");
  if (std::string(test.type) == "Conv") {
    model.floats("w", {4, 2, 3, 3}, Floats(72, 1));
    model.node("Conv", {"x", "w"}, {"y"}, test.attributes);
  } else {
    model.node(test.type, {"x"}, {"y"}, test.attributes);
  }
  const graph::Graph graph = import_valid(model);
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].op, test.expected);
  EXPECT_EQ(output_of(graph).shape, test.output);
}

INSTANTIATE_TEST_SUITE_P(
    Conv, Windows,
    testing::Values(WindowCase{"defaults",
                               7,
                               "Conv",
                               {1, 2, 8, 9},
                               {},
                               conv({1, 1}, {1, 1}, {0, 0}, {0, 0}),
                               {1, 4, 6, 7}},
                    WindowCase{"all_stated",
                               11,
                               "Conv",
                               {1, 4, 8, 9},
                               {{"kernel_shape", Dims{3, 3}},
                                {"strides", Dims{2, 1}},
                                {"dilations", Dims{1, 2}},
                                {"pads", Dims{1, 2, 3, 4}},
                                {"group", 2}},
                               conv({2, 1}, {1, 2}, {1, 2}, {3, 4}, 2),
                               {1, 4, 5, 11}},
                    WindowCase{"same_upper",
                               11,
                               "Conv",
                               {1, 2, 8, 9},
                               {{"auto_pad", "SAME_UPPER"}, {"strides", Dims{2, 2}}},
                               conv({2, 2}, {1, 1}, {0, 1}, {1, 1}),
                               {1, 4, 4, 5}},
                    WindowCase{"same_lower",
                               11,
                               "Conv",
                               {1, 2, 8, 9},
                               {{"auto_pad", "SAME_LOWER"}, {"strides", Dims{2, 2}}},
                               conv({2, 2}, {1, 1}, {1, 1}, {0, 1}),
                               {1, 4, 4, 5}},
                    WindowCase{"same_of_a_dilated_kernel",
                               11,
                               "Conv",
                               {1, 2, 8, 8},
                               {{"auto_pad", "SAME_UPPER"}, {"dilations", Dims{2, 2}}},
                               conv({1, 1}, {2, 2}, {2, 2}, {2, 2}),
                               {1, 4, 8, 8}},
                    WindowCase{"valid",
                               11,
                               "Conv",
                               {1, 2, 8, 9},
                               {{"auto_pad", "VALID"}},
                               conv({1, 1}, {1, 1}, {0, 0}, {0, 0}),
                               {1, 4, 6, 7}}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Pool, Windows,
    testing::Values(
        WindowCase{"max",
                   8,
                   "MaxPool",
                   {1, 2, 8, 8},
                   {{"kernel_shape", Dims{3, 3}}, {"strides", Dims{2, 2}}},
                   pool(kMax, {3, 3}, {2, 2}, {0, 0}, {0, 0}, {0, 0}),
                   {1, 2, 3, 3}},
        WindowCase{"ceil_adds_a_window_over_the_end",
                   10,
                   "MaxPool",
                   {1, 2, 8, 8},
                   {{"kernel_shape", Dims{3, 3}}, {"strides", Dims{2, 2}}, {"ceil_mode", 1}},
                   pool(kMax, {3, 3}, {2, 2}, {0, 0}, {1, 1}, {1, 1}),
                   {1, 2, 4, 4}},
        WindowCase{"ceil_that_fits_adds_nothing",
                   10,
                   "MaxPool",
                   {1, 2, 9, 9},
                   {{"kernel_shape", Dims{3, 3}}, {"strides", Dims{2, 2}}, {"ceil_mode", 1}},
                   pool(kMax, {3, 3}, {2, 2}, {0, 0}, {0, 0}, {0, 0}),
                   {1, 2, 4, 4}},
        WindowCase{"ceil_starts_no_window_behind_the_image",
                   19,
                   "AveragePool",
                   {1, 1, 2, 2},
                   {{"kernel_shape", Dims{1, 1}},
                    {"strides", Dims{2, 2}},
                    {"pads", Dims{0, 0, 0, 0}},
                    {"ceil_mode", 1}},
                   pool(kAverage, {1, 1}, {2, 2}, {0, 0}, {0, 0}, {0, 0}),
                   {1, 1, 1, 1}},
        WindowCase{
            "average_that_counts_padding",
            11,
            "AveragePool",
            {1, 2, 8, 8},
            {{"kernel_shape", Dims{3, 3}}, {"pads", Dims{1, 1, 1, 1}}, {"count_include_pad", 1}},
            pool(kAverage, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, true),
            {1, 2, 8, 8}},
        WindowCase{"one_dimension",
                   11,
                   "AveragePool",
                   {1, 2, 8},
                   {{"kernel_shape", Dims{2}}},
                   pool(kAverage, {2}, {1}, {0}, {0}, {0}),
                   {1, 2, 7}},
        WindowCase{"global_average",
                   7,
                   "GlobalAveragePool",
                   {1, 2, 8, 8},
                   {},
                   graph::GlobalPool{kAverage},
                   {1, 2, 1, 1}},
        WindowCase{"global_max",
                   7,
                   "GlobalMaxPool",
                   {1, 2, 8, 8},
                   {},
                   graph::GlobalPool{kMax},
                   {1, 2, 1, 1}}),
    [](const auto& info) { return info.param.name; });

TEST(ConvImport, BiasIsTheThirdOperand) {
  Model model;
  model.input("x", {1, 2, 5, 5}).floats("w", {4, 2, 1, 1}, Floats(8)).floats("b", {4}, Floats(4));
  const auto graph = import_valid(model.node("Conv", {"x", "w", "b"}, {"y"}).output("y"));
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.values[graph.nodes[0].input(2)].name, "b");
}

struct RefusedWindow {
  const char* reason;
  const char* type;
  Attributes attributes;
};

TEST(WindowImport, AttributesThatDoNotFitNameTheNode) {
  const RefusedWindow cases[] = {
      {"pads", "Conv", {{"pads", Dims{1, 1}}}},
      {"pads", "Conv", {{"pads", Dims{-1, 0, 0, 0}}}},
      {"strides", "Conv", {{"strides", Dims{0, 1}}}},
      {"strides", "Conv", {{"strides", Dims{1}}}},
      {"dilations", "Conv", {{"dilations", Dims{int64_t{1} << 62, 1}}}},
      {"kernel_shape", "Conv", {{"kernel_shape", Dims{5, 5}}}},
      {"auto_pad", "Conv", {{"auto_pad", "SAME"}}},
      {"attribute 'group'", "Conv", {{"group", "two"}}},
      {"kernel_shape", "MaxPool", {}},
      {"dilated kernel",
       "MaxPool",
       {{"kernel_shape", Dims{1 << 30, 1}}, {"dilations", Dims{1 << 30, 1}}}},
  };
  for (const RefusedWindow& test : cases) {
    Model model;
    model.input("x", {1, 2, 8, 8}).floats("w", {4, 2, 3, 3}, Floats(72)).output("y");
    const Names inputs = std::string(test.type) == "Conv" ? Names{"x", "w"} : Names{"x"};
    const Status status = import_failure(model.node(test.type, inputs, {"y"}, test.attributes));
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << test.reason;
    EXPECT_NE(status.message().find("node 'y_node'"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find(test.reason), std::string::npos) << status.message();
  }
}

TEST(WindowImport, MaxPoolWithIndicesIsAFallback) {
  Model model;
  model.input("x", {1, 2, 8, 8}).output("y").output("indices", TensorProto::INT64);
  model.node("MaxPool", {"x"}, {"y", "indices"}, {{"kernel_shape", Dims{2, 2}}});
  const graph::Graph graph = import_valid(model);
  EXPECT_EQ(graph.nodes.back().op,
            graph::Operator(graph::Fallback{"MaxPool", {{"kernel_shape", Dims{2, 2}}}}));
}

}  // namespace
}  // namespace millrace::compiler::test
