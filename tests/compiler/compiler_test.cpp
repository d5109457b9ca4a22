// compile(): the way from a file to a compiled model.
#include "compiler/compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "graph/archive/codec.h"
#include "graph/network/network.h"
#include "model/archive_writer.h"
#include "tests/compiler/onnx_builder.h"
#include "tests/support/temporary_directory.h"

namespace millrace::compiler::test {
namespace {

using testing::HasSubstr;

class Compile : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) const {
    const std::string path = (std::filesystem::path(directory_.path()) / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  std::string write_model() const {
    Model model;
    model.input("x", {-1, 2, 4, 4}).output("y").floats("w", {3, 2, 1, 1}, {1, 2, 3, 4, 5, 6});
    model.node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"y"});
    return write("tiny.onnx", model.bytes());
  }

 private:
  millrace::test::TemporaryDirectory directory_;
};

TEST_F(Compile, OptimisesAndDescribesTheBoundary) {
  const auto model = compile(write_model(), {.batch_size = 4});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->name, "tiny");
  EXPECT_EQ(model->batch_size, 4u);
  ASSERT_EQ(model->graph.nodes.size(), 1u);
  EXPECT_EQ(std::get<graph::Conv>(model->graph.nodes[0].op).activation.kind,
            graph::UnaryKind::kRelu);
  ASSERT_EQ(model->inputs.size(), 1u);
  EXPECT_EQ(model->inputs[0].cpu.name, "x");
  EXPECT_EQ(model->inputs[0].cpu.shape, (std::vector<uint32_t>{1, 2, 4, 4}));
}

TEST_F(Compile, SaysOnceThatAModelIsOfALaterOpset) {
  for (const int opset : {26, 27, 28}) {
    Model onnx(opset);
    onnx.input("x", {1, 2}).output("y").node("Relu", {"x"}, {"y"});
    std::vector<int> noted;
    const auto model = compile(write("later.onnx", onnx.bytes()),
                               {.on_later_opset = [&](int stated) { noted.push_back(stated); }});
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    EXPECT_EQ(noted, opset > 27 ? std::vector<int>{opset} : std::vector<int>()) << opset;
  }
}

TEST_F(Compile, PlacesOperatorsOnTheCpuAfterOptimisation) {
  Model onnx;
  onnx.input("x", {1, 2, 4, 4}).output("y").floats("w", {3, 2, 1, 1}, {1, 2, 3, 4, 5, 6});
  onnx.node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"r"});
  onnx.node("Softmax", {"r"}, {"y"}, {{"axis", 1}});
  const std::string path = write("head.onnx", onnx.bytes());
  const auto model = compile(path, {.cpu_operators = {"Softmax"}});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ASSERT_EQ(model->partitions.size(), 2u);
  EXPECT_EQ(model->partitions[1].kind, graph::PartitionKind::kCpu);
  const auto with_relu = compile(path, {.cpu_operators = {"Relu"}});
  ASSERT_TRUE(with_relu.ok()) << with_relu.status().to_string();
  EXPECT_EQ(with_relu->partitions[0].kind, graph::PartitionKind::kCpu)
      << "it has become the activation of the Conv, which goes where it is wanted";
}

TEST_F(Compile, ReportsEveryStageFromTheImportOn) {
  std::vector<std::string> stages;
  CompileOptions options;
  options.on_stage = [&](std::string_view stage, const graph::Graph& graph) {
    EXPECT_FALSE(graph.nodes.empty());
    stages.emplace_back(stage);
  };
  ASSERT_TRUE(compile(write_model(), options).ok());
  ASSERT_GT(stages.size(), 2u);
  EXPECT_EQ(stages[0], "import");
  EXPECT_THAT(stages, testing::Contains("fuse_activation"));
}

TEST_F(Compile, ErrorsNameTheFile) {
  EXPECT_EQ(compile("/nowhere.onnx", {}).status().code(), StatusCode::kNotFound);
  const Status text = compile(write("text.onnx", "hello"), {}).status();
  EXPECT_EQ(text.code(), StatusCode::kCorruptData);
  EXPECT_THAT(text.message(), HasSubstr("text.onnx"));
  const Status shapes = compile(write_model(), {.input_shapes = {{"z", {1}}}}).status();
  EXPECT_EQ(shapes.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(shapes.message(), HasSubstr("the model's inputs are 'x'"));
  EXPECT_FALSE(compile(write_model(), {.batch_size = 0}).ok());
}

TEST_F(Compile, ContentInMemoryCompilesLikeItsFile) {
  Model onnx;
  onnx.input("x", {1, 2}).output("y").node("Relu", {"x"}, {"y"});
  const std::string content = onnx.bytes();
  const auto from_memory = compile_content(content, "small.onnx", {});
  ASSERT_TRUE(from_memory.ok()) << from_memory.status().to_string();
  const auto from_file = compile(write("small.onnx", content), {});
  ASSERT_TRUE(from_file.ok()) << from_file.status().to_string();
  EXPECT_EQ(from_memory->name, "small");
  EXPECT_EQ(model::archive_bytes(graph::encode(*from_memory)),
            model::archive_bytes(graph::encode(*from_file)));
  const Status text = compile_content("hello", "net", {}).status();
  EXPECT_EQ(text.code(), StatusCode::kCorruptData);
  EXPECT_THAT(text.message(), HasSubstr("net: this is not an ONNX model"));
}

TEST_F(Compile, NamesOfCpuOperatorsThatNoJobCanMeetAreRefused) {
  Model onnx;
  onnx.symbolic_input("x", {"batch", "2", "height"}).output("y", TensorProto::FLOAT);
  onnx.node("Relu", {"x"}, {"y"});
  const std::string path = write("open.onnx", onnx.bytes());
  EXPECT_TRUE(compile(path, {.cpu_operators = {"Relu", "y_node"}}).ok())
      << "an operator and a node";
  EXPECT_TRUE(compile(path, {.cpu_operators = {"Gelu"}}).ok()) << "which a pass may make";
  const Status misspelt = compile(path, {.cpu_operators = {"Relu", "Reluu"}}).status();
  EXPECT_EQ(misspelt.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(misspelt.message(), HasSubstr("no operator 'Reluu'"));
}

TEST_F(Compile, OpenShapesCompileToTheNetworkItself) {
  Model onnx;
  onnx.symbolic_input("x", {"batch", "2", "height"}).output("y", TensorProto::FLOAT);
  onnx.node("Relu", {"x"}, {"y"}).node("Neg", {"x"}, {"unneeded"});
  const auto model =
      compile(write("open.onnx", onnx.bytes()), {.batch_size = 3, .cpu_operators = {"Relu"}});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ASSERT_NE(model->network, nullptr);
  EXPECT_TRUE(model->graph.nodes.empty());
  EXPECT_EQ(model->network->nodes.size(), 1u);
  EXPECT_EQ(model->batch_size, 3u);
  EXPECT_EQ(model->cpu_operators, std::vector<std::string>{"Relu"});
  ASSERT_EQ(model->inputs.size(), 1u);
  EXPECT_TRUE(model->inputs[0].open);
  EXPECT_FALSE(model->inputs[0].hw);
  EXPECT_EQ(model->inputs[0].cpu.shape, (std::vector<uint32_t>{1, 2, kOpenDimension}));
  ASSERT_EQ(model->outputs.size(), 1u);
  EXPECT_TRUE(model->outputs[0].open);
  EXPECT_EQ(model->outputs[0].cpu.type, tensor::DataType::kFloat32);
}

TEST_F(Compile, WhatANetworkComputesFromItsWeightsAloneIsComputedOnce) {
  Model onnx;
  onnx.symbolic_input("x", {"rows", "3"}).output("y", TensorProto::FLOAT);
  onnx.floats("w", {2, 3}, {1, 2, 3, 4, 5, 6}).floats("two", {}, {2});
  onnx.node("Transpose", {"w"}, {"turned"}, {{"perm", Dims{1, 0}}});
  onnx.node("Mul", {"turned", "two"}, {"scaled"}).node("MatMul", {"x", "scaled"}, {"y"});
  const auto model =
      compile(write("weights.onnx", onnx.bytes()), {.input_shapes = {{"x", {-1, 3}}}});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ASSERT_NE(model->network, nullptr);
  ASSERT_EQ(model->network->nodes.size(), 1u);
  EXPECT_EQ(model->network->nodes[0].type, "MatMul");
  ASSERT_EQ(model->network->initializers.size(), 1u);
  const graph::Value& scaled = model->network->initializers[0];
  EXPECT_EQ(scaled.name, "scaled");
  EXPECT_EQ(scaled.shape, (Dims{3, 2}));
  EXPECT_THAT(scaled.constant->as<float>(), testing::ElementsAre(2, 8, 4, 10, 6, 12));
}

// The archive would be larger than the model.
TEST_F(Compile, WhatANetworkExpandsIsExpandedInEachJob) {
  Model onnx;
  onnx.symbolic_input("x", {"rows", "100000"}).output("y", TensorProto::FLOAT);
  onnx.floats("one", {1}, {1}).ints("shape", {100'000});
  onnx.node("Expand", {"one", "shape"}, {"ones"}).node("Add", {"x", "ones"}, {"y"});
  const auto model =
      compile(write("expand.onnx", onnx.bytes()), {.input_shapes = {{"x", {-1, 100'000}}}});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ASSERT_NE(model->network, nullptr);
  EXPECT_EQ(model->network->nodes.size(), 2u);
}

TEST_F(Compile, GivenShapesMayKeepDimensionsOpen) {
  Model onnx;
  onnx.input("x", {-1, 3}).output("y", TensorProto::FLOAT).node("Relu", {"x"}, {"y"});
  const std::string path = write("frames.onnx", onnx.bytes());
  EXPECT_EQ(compile(path, {})->network, nullptr);
  const auto model = compile(path, {.input_shapes = {{"x", {-1, 3}}}});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ASSERT_NE(model->network, nullptr);
  EXPECT_EQ(model->inputs[0].cpu.shape, (std::vector<uint32_t>{kOpenDimension, 3}));
}

TEST_F(Compile, ShapesThatFollowFromElementsAreOpenToo) {
  Model onnx;
  onnx.input("x", {2, 3}).input("shape", {2}, TensorProto::INT64);
  onnx.output("y", TensorProto::FLOAT).output("z");
  onnx.node("Relu", {"x"}, {"z"}).node("Reshape", {"z", "shape"}, {"y"});
  const auto model = compile(write("reshape.onnx", onnx.bytes()), {});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ASSERT_NE(model->network, nullptr);
  EXPECT_FALSE(model->inputs[0].open);
  ASSERT_EQ(model->outputs.size(), 2u);
  EXPECT_TRUE(model->outputs[0].open);
  EXPECT_FALSE(model->outputs[1].open) << "its shape follows from that of x";
  EXPECT_EQ(model->outputs[1].cpu.shape, (std::vector<uint32_t>{2, 3}));
}

TEST_F(Compile, WhatCanNeverRunIsRefusedWithOpenShapes) {
  Model onnx;
  onnx.input("x", {1, -1}).output("y", TensorProto::FLOAT).node("StringNormalizer", {"x"}, {"y"});
  const Status status = compile(write("never.onnx", onnx.bytes()), {}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("'y_node'"));
}

TEST_F(Compile, OpenOutputsNeedAType) {
  Model onnx;
  onnx.input("x", {1, -1}).output("y").node("Relu", {"x"}, {"y"});
  EXPECT_EQ(compile(write("untyped.onnx", onnx.bytes()), {}).status().code(),
            StatusCode::kUnsupported);
}

// The file says that it is a sequence of maps; what is computed is a tensor of their values.
TEST_F(Compile, AnOpenZipMapIsATensor) {
  Model onnx;
  onnx.domain("ai.onnx.ml", 1).input("x", {-1, 2}).output("y");
  onnx.node("ZipMap", {"x"}, {"y"}, {{"classlabels_int64s", Dims{0, 1}}});
  onnx.proto.mutable_graph()->mutable_node(0)->set_domain("ai.onnx.ml");
  auto* map = onnx.proto.mutable_graph()
                  ->mutable_output(0)
                  ->mutable_type()
                  ->mutable_sequence_type()
                  ->mutable_elem_type()
                  ->mutable_map_type();
  map->set_key_type(TensorProto::INT64);
  map->mutable_value_type()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  const auto model = compile(write("zip.onnx", onnx.bytes()), {.input_shapes = {{"x", {-1, 2}}}});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->outputs[0].cpu.type, tensor::DataType::kFloat32);
}

TEST_F(Compile, ADirectoryIsNoModel) {
  EXPECT_FALSE(compile(std::filesystem::temp_directory_path().string(), {}).ok());
}

}  // namespace
}  // namespace millrace::compiler::test
