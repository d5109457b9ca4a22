// A decoder whose cache has an open length: each job binds the present tensor of the last one as
// its past, with the shape that the last one stated. Nothing is copied between jobs.
#include <gmock/gmock.h>

#include <array>
#include <fstream>
#include <vector>

#include "compiler/compiler.h"
#include "graph/archive/codec.h"
#include "millrace/millrace.hpp"
#include "model/archive_writer.h"
#include "tests/compiler/onnx_builder.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

using compiler::test::Floats;
using ::onnx::TensorProto;
using ::testing::ElementsAreArray;
using ::testing::FloatNear;
using ::testing::Pointwise;

using OnnxModel = compiler::test::Model;

constexpr uint32_t kTokens = 5, kSize = 4;

// Five tokens that differ enough for every one of them to change the attention of later ones.
constexpr std::array<float, kTokens* kSize> kElements = {0.5f,  -1.0f, 2.0f, 0.25f,   //
                                                         1.5f,  0.5f,  0.0f, -0.75f,  //
                                                         -1.0f, 1.0f,  0.5f, 1.25f,   //
                                                         0.75f, -0.5f, 1.0f, 2.0f,    //
                                                         -0.5f, 2.0f,  1.5f, -1.0f};

// Adds y = softmax(x keys^T + mask) keys; the keys are the values, too. The mask may be absent.
void add_attention(OnnxModel& model, const char* keys, const char* mask) {
  model.node("Transpose", {keys}, {"transposed"}, {{"perm", graph::Dims{0, 1, 3, 2}}});
  model.node("MatMul", {"x", "transposed"}, {"products"});
  if (mask != nullptr) model.node("Add", {"products", mask}, {"scores"});
  model.node("Softmax", {mask != nullptr ? "scores" : "products"}, {"weights"}, {{"axis", -1}});
  model.node("MatMul", {"weights", keys}, {"y"});
}

// One token: its key goes to the end of the cache.
OnnxModel decoder() {
  OnnxModel model(17);
  model.input("x", {1, 1, 1, kSize}).input("past", {1, 1, -1, kSize});
  model.output("y", TensorProto::FLOAT).output("present", TensorProto::FLOAT);
  model.node("Concat", {"past", "x"}, {"present"}, {{"axis", 2}});
  add_attention(model, "present", nullptr);
  return model;
}

// All tokens at once, of which none sees a later one.
OnnxModel whole_sequence() {
  OnnxModel model(17);
  model.input("x", {1, 1, kTokens, kSize}).output("y", TensorProto::FLOAT);
  Floats mask;
  for (uint32_t query = 0; query < kTokens; ++query)
    for (uint32_t key = 0; key < kTokens; ++key) mask.push_back(key <= query ? 0.0f : -1e9f);
  model.floats("mask", {kTokens, kTokens}, mask);
  add_attention(model, "x", "mask");
  return model;
}

class GrowingCache : public ::testing::Test {
 protected:
  Model load(const OnnxModel& onnx) {
    const std::string path = directory_.file("model.onnx"), archive = directory_.file("model.rai");
    std::ofstream(path, std::ios::binary) << onnx.bytes();
    const auto compiled = compiler::compile(path, {}).value();
    EXPECT_TRUE(
        model::write_archive(graph::encode(compiled), archive, model::ArchiveForm::kFile).ok());
    return device_.load(archive).value();
  }

  // The results of all tokens by a static model.
  Floats whole_results() {
    const Model model = load(whole_sequence());
    Floats results(kElements.size());
    const TensorArg x{std::span(kElements)}, y{std::span(results)};
    const Status status = unit_.execute(model, {.inputs = {&x, 1}, .outputs = {&y, 1}});
    EXPECT_TRUE(status.ok()) << status.to_string();
    return results;
  }

  TemporaryDirectory directory_;
  Device device_ = Device::open("cpu").value();
  Unit unit_ = device_.create_unit().value();
};

TEST_F(GrowingCache, AJobTakesThePresentOfTheLastOne) {
  const Model model = load(decoder());
  const Floats expected = whole_results();
  ASSERT_TRUE(model.inputs()[1].cpu.is_open);
  // The caches, and the shapes that the jobs state: the first one is empty.
  std::vector<Buffer> caches;
  std::array<TensorShape, kTokens + 1> shapes;
  shapes[0] = {4, {1, 1, 0, kSize}};
  for (size_t i = 0; i < shapes.size(); ++i)
    caches.push_back(Buffer::allocate(sizeof kElements).value());
  for (uint32_t i = 0; i < kTokens; ++i) {
    SCOPED_TRACE("token " + std::to_string(i));
    std::array<float, kSize> y = {};
    std::array inputs = {TensorArg(std::span(kElements).subspan(i * kSize, kSize)),
                         TensorArg(caches[i])};
    std::array outputs = {TensorArg(std::span(y)), TensorArg(caches[i + 1])};
    inputs[1].shape = &shapes[i];
    outputs[1].shape = &shapes[i + 1];
    const Status status = unit_.execute(model, {.inputs = inputs, .outputs = outputs});
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(shapes[i + 1], (TensorShape{4, {1, 1, i + 1, kSize}}));
    EXPECT_THAT(caches[i + 1].span<float>().first((i + 1) * kSize),
                ElementsAreArray(std::span(kElements).first((i + 1) * kSize)));
    EXPECT_THAT(y, Pointwise(FloatNear(1e-5f), std::span(expected).subspan(i * kSize, kSize)));
  }
}

}  // namespace
}  // namespace millrace::test
