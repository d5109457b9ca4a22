// Real networks with open dimensions: one archive, any shape, the same results as archives that
// were compiled for each shape. The models are those beside the project; skipped where they are
// absent.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "compiler/compiler.h"
#include "graph/archive/codec.h"
#include "millrace/millrace.hpp"
#include "model/archive_writer.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_models.h"

namespace millrace::test {
namespace {

using Shapes = std::map<std::string, graph::Dims>;  // by input

struct RealModel {
  const char* file;
  Shapes open;
  std::vector<Shapes> shapes;
  int64_t highest = 255;  // of integer inputs
};

std::vector<RealModel> real_models() {
  const auto image = [](int64_t n, int64_t height, int64_t width) {
    return Shapes{{"input", {n, 3, height, width}}};
  };
  const auto tokens = [](int64_t n, int64_t length) {
    return Shapes{{"input_ids", {n, length}}, {"attention_mask", {n, length}}};
  };
  return {
      {"models/yunet_n_dynamic.onnx",
       image(-1, -1, -1),
       {image(1, 64, 96), image(2, 96, 160), image(1, 160, 64)}},
      {"models/byte_bidi_lstm.onnx",
       {{"input", {-1, -1}}},
       {{{"input", {1, 44}}}, {{"input", {3, 7}}}, {{"input", {2, 1}}}}},
      {"models/reverse_transformer.onnx",
       tokens(-1, -1),
       {tokens(4, 10), tokens(1, 3), tokens(2, 7)},
       1},
  };
}

using Tensors = std::vector<std::vector<std::byte>>;

class RealModels : public ::testing::TestWithParam<RealModel> {
 protected:
  void SetUp() override {
    const auto path = test_model(GetParam().file);
    if (!path) GTEST_SKIP() << GetParam().file << " is not there";
    path_ = *path;
  }

  Model load(const Shapes& shapes) {
    compiler::CompileOptions options;
    options.input_shapes = shapes;
    const auto model = compiler::compile(path_, options).value();
    const std::string archive = directory_.file("model.rai");
    EXPECT_TRUE(
        model::write_archive(graph::encode(model), archive, model::ArchiveForm::kFile).ok());
    return device_.load(archive).value();
  }

  // The inputs in these shapes, the same in every call.
  Tensors make_inputs(const Model& model, const Shapes& shapes) {
    std::mt19937 random(7);
    Tensors inputs;
    for (const TensorInfo& info : model.inputs()) {
      const graph::Dims& dims = shapes.at(info.name);
      size_t elements = 1;
      for (const int64_t dim : dims) elements *= static_cast<size_t>(dim);
      std::vector<std::byte> bytes(elements * size_of(info.cpu.type));
      for (size_t i = 0; i < elements; ++i) {
        const auto number = static_cast<int64_t>(random() % 256) % (GetParam().highest + 1);
        if (info.cpu.type == DataType::kFloat32) {
          const auto real = static_cast<float>(number);
          std::memcpy(bytes.data() + i * sizeof real, &real, sizeof real);
        } else {  // little-endian
          const size_t size = size_of(info.cpu.type);
          std::memcpy(bytes.data() + i * size, &number, size);
        }
      }
      inputs.push_back(std::move(bytes));
    }
    return inputs;
  }

  // The outputs, and their shapes.
  std::pair<Tensors, std::vector<TensorShape>> run(const Model& model, const Shapes& shapes) {
    Tensors inputs = make_inputs(model, shapes);
    std::vector<TensorShape> input_shapes, output_shapes(model.outputs().size());
    for (const TensorInfo& info : model.inputs()) {
      const graph::Dims& dims = shapes.at(info.name);
      TensorShape& shape = input_shapes.emplace_back();
      shape.rank = static_cast<uint32_t>(dims.size());
      std::ranges::transform(dims, shape.dims.begin(),
                             [](int64_t dim) { return static_cast<uint32_t>(dim); });
    }
    Tensors outputs(model.outputs().size(), std::vector<std::byte>(size_t{1} << 20));
    std::vector<TensorArg> in, out;
    for (size_t i = 0; i < inputs.size(); ++i) {
      in.emplace_back(inputs[i].data(), inputs[i].size());
      in.back().shape = &input_shapes[i];
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      out.emplace_back(outputs[i].data(), outputs[i].size());
      out.back().shape = &output_shapes[i];
    }
    const Status status = unit_.execute(model, {.inputs = in, .outputs = out});
    EXPECT_TRUE(status.ok()) << status.to_string();
    for (size_t i = 0; i < outputs.size(); ++i) {
      size_t bytes = size_of(model.outputs()[i].cpu.type);
      for (uint32_t d = 0; d < output_shapes[i].rank; ++d) bytes *= output_shapes[i].dims[d];
      outputs[i].resize(std::min(bytes, outputs[i].size()));
    }
    return {std::move(outputs), std::move(output_shapes)};
  }

  TemporaryDirectory directory_;
  std::string path_;
  Device device_ = Device::open("cpu").value();
  Unit unit_ = device_.create_unit().value();
};

void expect_near(const std::vector<std::byte>& ours, const std::vector<std::byte>& expected) {
  ASSERT_EQ(ours.size(), expected.size());
  double difference = 0, largest = 1e-30;
  for (size_t at = 0; at < ours.size(); at += sizeof(float)) {
    float a = 0, b = 0;
    std::memcpy(&a, ours.data() + at, sizeof a);
    std::memcpy(&b, expected.data() + at, sizeof b);
    largest = std::max(largest, std::abs(double{b}));
    // Written so that a NaN counts as a difference.
    if (!(std::abs(double{a} - b) <= difference)) difference = std::abs(double{a} - b);
  }
  EXPECT_LE(difference / largest, 1e-4);
}

TEST_P(RealModels, OneArchiveRunsEveryShapeAsArchivesOfThatShapeDo) {
  const Model open = load(GetParam().open);
  EXPECT_TRUE(open.inputs()[0].cpu.is_open);
  for (const Shapes& shapes : GetParam().shapes) {
    const Model fixed = load(shapes);
    EXPECT_FALSE(fixed.outputs()[0].cpu.is_open);
    const auto [ours, our_shapes] = run(open, shapes);
    const auto [expected, unused] = run(fixed, shapes);
    for (size_t i = 0; i < ours.size(); ++i) {
      const std::vector<uint32_t>& dims = fixed.outputs()[i].cpu.shape;
      ASSERT_EQ(our_shapes[i].rank, dims.size());
      EXPECT_TRUE(std::equal(dims.begin(), dims.end(), our_shapes[i].dims.begin()));
      // Static tensors state no shape: the memory is as large as the test made it.
      std::vector<std::byte> same_size = expected[i];
      same_size.resize(fixed.outputs()[i].cpu.bytes);
      expect_near(ours[i], same_size);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RealModels, ::testing::ValuesIn(real_models()),
                         [](const auto& parameter) {
                           std::string name = parameter.param.file;
                           name = name.substr(name.find('/') + 1);
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
}  // namespace millrace::test
