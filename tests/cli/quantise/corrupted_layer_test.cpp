// A layer whose scale is wrong is found at the bottom of the tool's table.
#include <gmock/gmock.h>

#include <cstring>

#include "tests/cli/quantise/int8_fixture.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

std::vector<float> elements_of(const onnx::TensorProto& tensor) {
  std::vector<float> elements(tensor.raw_data().size() / sizeof(float));
  std::memcpy(elements.data(), tensor.raw_data().data(), tensor.raw_data().size());
  return elements;
}

void set_elements(onnx::TensorProto& tensor, const std::vector<float>& elements) {
  tensor.set_raw_data(elements.data(), elements.size() * sizeof(float));
}

onnx::TensorProto& initializer(onnx::ModelProto& model, const std::string& name) {
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer())
    if (tensor.name() == name) return tensor;
  ADD_FAILURE() << name;
  return *model.mutable_graph()->mutable_initializer(0);
}

// Makes the first input channel of the layer of `weight` zero, by the bias before the ReLU that
// makes the channel, and the weights of that channel enormous. Their products are zero, so the
// network computes the same as without the channel, but they alone decide the scales of the layer.
void corrupt(onnx::ModelProto& model, const std::string& bias, const std::string& weight) {
  onnx::TensorProto& shift = initializer(model, bias);
  std::vector<float> shifts = elements_of(shift);
  shifts[0] = -1e4F;
  set_elements(shift, shifts);
  onnx::TensorProto& tensor = initializer(model, weight);
  std::vector<float> weights = elements_of(tensor);
  const size_t per_output = weights.size() / static_cast<size_t>(tensor.dims(0));
  for (size_t i = 0; i < weights.size(); i += per_output) weights[i] = 1e4F;
  set_elements(tensor, weights);
}

std::string last_layer(const std::string& output) {
  const size_t end = output.find("  outputs against");
  EXPECT_NE(end, std::string::npos) << output;
  const size_t begin = output.rfind('\n', end - 2) + 1;
  return output.substr(begin, end - begin);
}

TEST_F(Int8Test, ACorruptedLayerIsAtTheBottomOfTheTable) {
  struct Corruption {
    const char* layer;
    const char* bias;
    const char* weight;
  };
  for (const Corruption& corruption : {Corruption{"conv4", "norm4_bias", "conv4_weight"},
                                       Corruption{"conv2", "norm2_bias", "conv2_weight"}}) {
    onnx::ModelProto model = read_onnx(kGlyphsOnnx);
    corrupt(model, corruption.bias, corruption.weight);
    std::ofstream stream(file("corrupted.onnx"), std::ios::binary);
    ASSERT_TRUE(model.SerializeToOstream(&stream));
    stream.close();
    const ProgramResult result = quantise({"--no-equalisation"}, file("corrupted.onnx"));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(last_layer(result.out), HasSubstr(std::string(corruption.layer) + " (Conv)"))
        << result.out;
  }
}

}  // namespace
}  // namespace millrace::test
