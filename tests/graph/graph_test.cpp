#include "graph/graph.h"

#include <gmock/gmock.h>

namespace millrace::graph {
namespace {

using tensor::DataType;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Constant, OwnsItsCopy) {
  std::vector<float> elements = {1, 2, 3};
  const Constant constant = Constant::of(elements);
  elements.assign(3, 0);
  EXPECT_THAT(constant.as<float>(), ElementsAre(1, 2, 3));
}

TEST(Constant, CopiesShareTheBytesAndKeepThemAlive) {
  std::optional<Constant> first = Constant::of(std::vector<int64_t>{7, 8});
  const Constant second = *first;
  EXPECT_EQ(second.bytes.data(), first->bytes.data());
  first.reset();
  EXPECT_THAT(second.as<int64_t>(), ElementsAre(7, 8));
}

TEST(Constant, IsAlignedForVectors) {
  const Constant constant = Constant::of(std::vector<float>{1});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(constant.bytes.data()) % 64, 0u);
}

TEST(Constant, MayBeEmpty) {
  EXPECT_THAT(Constant::copy_of({}).bytes, IsEmpty());
}

TEST(Value, CountsElementsAndBytes) {
  EXPECT_EQ((Value{"x", DataType::kFloat32, {2, 3, 4}, {}}).elements(), 24u);
  EXPECT_EQ((Value{"x", DataType::kBf16, {2, 3, 4}, {}}).bytes(), 48u);
  EXPECT_EQ((Value{"scalar", DataType::kInt64, {}, {}}).bytes(), 8u);
}

TEST(Node, HasNoOperandPastTheEnd) {
  const Node node{"n", Unary{}, {5}, {6}};
  EXPECT_EQ(node.input(0), 5u);
  EXPECT_EQ(node.input(1), kNoValue);
}

TEST(ConsumersOf, ListsEachReaderOnce) {
  Graph graph;
  for (const char* name : {"x", "square", "sum"}) {
    graph.add_value({name, DataType::kFloat32, {4}, {}});
  }
  graph.inputs = {0};
  graph.nodes = {{"square", Binary{BinaryKind::kMul}, {0, 0}, {1}},
                 {"sum", Binary{BinaryKind::kAdd}, {1, 0}, {2}}};
  graph.outputs = {2};
  EXPECT_THAT(consumers_of(graph), ElementsAre(ElementsAre(0, 1), ElementsAre(1), IsEmpty()));
}

TEST(ConsumersOf, PassesOverAbsentOperands) {
  Graph graph;
  graph.add_value({"x", DataType::kFloat32, {1, 1, 2, 2}, {}});
  graph.nodes = {{"conv", Conv{}, {0, 0, kNoValue, 0}, {0}}};
  EXPECT_THAT(consumers_of(graph), ElementsAre(ElementsAre(0)));
}

}  // namespace
}  // namespace millrace::graph
