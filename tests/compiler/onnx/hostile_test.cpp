// Damaged models give an error or a valid graph, never a crash.
#include <gtest/gtest.h>

#include <random>

#include "tests/compiler/onnx_builder.h"

namespace millrace::compiler::test {
namespace {

// A model with every kind of handler in it.
std::string small_model() {
  Model model(11);
  model.input("x", {-1, 2, 8, 8}).output("y").floats("w", {4, 2, 3, 3}, Floats(72, 0.5f));
  model.floats("b", {4}, {1, 2, 3, 4})
      .floats("scales", {4}, {1, 1, 2, 2})
      .ints("pads", {0, 0, 1, 1, 0, 0, 1, 1});
  model.node("Pad", {"x", "pads"}, {"p"}, {{"mode", "constant"}});
  model.node("Conv", {"p", "w", "b"}, {"c"}, {{"pads", Dims{1, 1, 1, 1}}, {"strides", Dims{2, 2}}});
  model.node("MaxPool", {"c"}, {"m"}, {{"kernel_shape", Dims{2, 2}}, {"ceil_mode", 1}});
  model.node("Resize", {"m", "", "scales"}, {"r"}, {{"mode", "nearest"}});
  model.node("Shape", {"r"}, {"s"}).ints("from", {0}).ints("to", {1});
  model.node("Slice", {"s", "from", "to"}, {"n"}).ints("rest", {-1});
  model.node("Concat", {"n", "rest"}, {"shape"}, {{"axis", 0}});
  model.node("Reshape", {"r", "shape"}, {"f"})
      .node("ReduceMean", {"f"}, {"mean"}, {{"axes", Dims{1}}});
  model.node("ConstantOfShape", {"shape2"}, {"fill"}, {{"value", tensor("v", {1}, {2})}});
  model.ints("shape2", {1, 4}).ints("repeats", {1, 3}).node("Tile", {"fill", "repeats"}, {"t"});
  model.node("Transpose", {"t"}, {"tt"}, {{"perm", Dims{1, 0}}});
  model.node("MatMul", {"mean", "t"}, {"mm"}).node("Softmax", {"mm"}, {"y"});
  return model.bytes();
}

// Imports damaged bytes; what still imports must be a valid graph. Returns whether it did.
bool survives(const std::string& bytes) {
  const Result<graph::Graph> graph = import_content(bytes);
  if (graph.ok()) {
    EXPECT_TRUE(graph::validate(*graph).ok()) << graph::validate(*graph).to_string();
  } else {
    EXPECT_FALSE(graph.status().message().empty());
  }
  return graph.ok();
}

TEST(HostileModels, TheWholeOneIsValid) {
  const Status status = import_content(small_model()).status();
  EXPECT_TRUE(status.ok()) << status.to_string();
}

TEST(HostileModels, TruncatedAnywhere) {
  const std::string whole = small_model();
  for (size_t length = 0; length < whole.size(); ++length) survives(whole.substr(0, length));
}

TEST(HostileModels, BytesChanged) {
  const std::string whole = small_model();
  std::mt19937 random(2);
  int imported = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string damaged = whole;
    for (size_t changes = 1 + random() % 4; changes > 0; --changes) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    imported += survives(damaged);
  }
  // Some changes hit weights or names only: the loop reaches the importer, not just the parser.
  EXPECT_GT(imported, 100);
}

TEST(HostileModels, NumbersChanged) {
  // Attributes and shapes take extreme values, in a message that still parses.
  const int64_t extremes[] = {0,
                              -1,
                              1,
                              1 << 16,
                              int64_t{1} << 31,
                              int64_t{1} << 40,
                              std::numeric_limits<int64_t>::max(),
                              std::numeric_limits<int64_t>::min()};
  ::onnx::ModelProto whole;
  ASSERT_TRUE(whole.ParseFromString(small_model()));
  for (int n = 0; n < whole.graph().node_size(); ++n) {
    for (int a = 0; a < whole.graph().node(n).attribute_size(); ++a) {
      for (const int64_t extreme : extremes) {
        ::onnx::ModelProto damaged = whole;
        auto* attribute = damaged.mutable_graph()->mutable_node(n)->mutable_attribute(a);
        attribute->set_i(extreme);
        if (attribute->ints_size() > 0) attribute->set_ints(0, extreme);
        survives(damaged.SerializeAsString());
      }
    }
  }
  for (int t = 0; t < whole.graph().initializer_size(); ++t) {
    for (int i = 0; i < whole.graph().initializer(t).int64_data_size(); ++i) {
      for (const int64_t extreme : extremes) {
        ::onnx::ModelProto damaged = whole;
        damaged.mutable_graph()->mutable_initializer(t)->set_int64_data(i, extreme);
        survives(damaged.SerializeAsString());
      }
    }
  }
}

}  // namespace
}  // namespace millrace::compiler::test
