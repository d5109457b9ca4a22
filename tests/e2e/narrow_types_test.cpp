// Types that files have and networks hold in wider ones, from the ONNX file to the result.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <string_view>

#include "tests/e2e/operator_models.h"
#include "tests/e2e/pipeline.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

using Bytes = std::vector<std::byte>;
using compiler::test::Floats;

// The output of the model for one input.
Bytes result_of(const Model& model, const std::function<Bytes(size_t bytes)>& make_input) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model.onnx");
  std::ofstream(path, std::ios::binary) << model.bytes();
  auto archive = compile_to_archive(path, {});
  EXPECT_TRUE(archive.ok()) << archive.status().to_string();
  if (!archive.ok()) return {};
  const auto session = open_session(*std::move(archive), "cpu");
  EXPECT_TRUE(session.ok()) << session.status().to_string();
  if (!session.ok()) return {};
  const size_t bytes = (*session)->model().inputs[0].cpu.bytes();
  const auto outputs = run_async(**session, {{make_input(bytes)}}, device::View::kCpu);
  EXPECT_TRUE(outputs.ok()) << outputs.status().to_string();
  return outputs.ok() ? outputs->at(0).at(0) : Bytes();
}

// A constant as files hold it: elements of less than a byte are packed, the first one in the lowest
// bits.
struct NarrowConstant {
  int type;
  int opset;  // the first one that allows the type for all operators of NarrowTypes
  std::string bytes;
  Floats elements;  // six
};

std::vector<NarrowConstant> narrow_constants() {
  return {
      {kFloat8E4M3FN, 21, "\x38\x40\xbc\x30\x7e\x08", {1, 2, -1.5f, 0.5f, 448, 0.015625f}},
      {kFloat8E4M3FNUZ, 21, "\x40\x48\xc4\x38\x7f\x08", {1, 2, -1.5f, 0.5f, 240, 0.0078125f}},
      {kFloat8E5M2, 21, "\x3c\x40\xbe\x38\x7b\x60", {1, 2, -1.5f, 0.5f, 57344, 512}},
      {kFloat8E5M2FNUZ, 21, "\x40\x44\xc2\x3c\x7f\x60", {1, 2, -1.5f, 0.5f, 57344, 256}},
      {kUint4, 21, "\x21\xf8\x07", {1, 2, 8, 15, 7, 0}},
      {kInt4, 21, "\x21\xf8\x07", {1, 2, -8, -1, 7, 0}},
      {kFloat4E2M1, 23, "\x21\xf8\x07", {0.5f, 1, 0, -6, 6, 0}},
      {kFloat8E8M0, 24, "\x7f\x80\x7e\x82\x79\x7d", {1, 2, 0.5f, 8, 0.015625f, 0.25f}},
      {kUint2, 25, "\x39\x0e", {1, 2, 3, 0, 2, 3}},
      {kInt2, 25, "\x39\x0e", {1, -2, -1, 0, -2, -1}},
  };
}

class NarrowTypes : public ::testing::TestWithParam<const char*> {
 protected:
  // The operator moves the constant [2,3], which is then cast and added to zeros.
  Model model_of(const NarrowConstant& constant, int opset) const {
    TensorProto tensor;
    tensor.set_name("x");
    tensor.set_data_type(constant.type);
    tensor.add_dims(2);
    tensor.add_dims(3);
    tensor.set_raw_data(constant.bytes);
    Model model(opset);
    model.constant(std::move(tensor)).ints("shape", {3, 2}).ints("vector", {-1});
    model.input("zeros", {6}).output("y", TensorProto::FLOAT);
    const bool reshapes = std::string_view(GetParam()) == "Reshape";
    model.node(GetParam(), reshapes ? Names{"x", "shape"} : Names{"x"}, {"moved"});
    model.node("Cast", {"moved"}, {"numbers"}, {{"to", TensorProto::FLOAT}});
    model.node("Reshape", {"numbers", "vector"}, {"flat"});
    return model.node("Add", {"zeros", "flat"}, {"y"});
  }
};

TEST_P(NarrowTypes, ConstantsKeepTheirElements) {
  for (const NarrowConstant& constant : narrow_constants()) {
    const Floats& x = constant.elements;
    const bool transposes = std::string_view(GetParam()) == "Transpose";
    const Floats expected = transposes ? Floats{x[0], x[3], x[1], x[4], x[2], x[5]} : x;
    for (const int opset : {constant.opset, kNewestOpset}) {
      SCOPED_TRACE(type_name(constant.type) + " in opset " + std::to_string(opset));
      EXPECT_TRUE(standard_types(GetParam(), opset, {}).contains(constant.type));
      const Bytes bytes =
          result_of(model_of(constant, opset), [](size_t size) { return Bytes(size); });
      Floats y(bytes.size() / sizeof(float));
      std::memcpy(y.data(), bytes.data(), y.size() * sizeof(float));
      EXPECT_EQ(y, expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, NarrowTypes,
                         ::testing::Values("Identity", "Reshape", "Transpose"),
                         [](const auto& info) { return std::string(info.param); });

// Any bits but those of NaN, infinity and the greatest values: the bits of a NaN may change while
// it is held in a wider type.
Bytes finite_bits(size_t size) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) {
    bytes[i] = std::byte(i * 37 % 256);
    if ((bytes[i] & std::byte{0x7c}) == std::byte{0x7c}) bytes[i] ^= std::byte{0x40};
  }
  return bytes;
}

// All pairs of types of one width: the result has the bits of the operand.
TEST(BitCasts, KeepEveryBit) {
  const std::vector<std::vector<int>> types_by_width = {
      {TensorProto::INT8, TensorProto::UINT8},
      {TensorProto::INT16, TensorProto::UINT16, TensorProto::FLOAT16, TensorProto::BFLOAT16},
      {TensorProto::INT32, TensorProto::UINT32, TensorProto::FLOAT},
      {TensorProto::INT64, TensorProto::UINT64, TensorProto::DOUBLE}};
  for (const std::vector<int>& types : types_by_width) {
    for (const int from : types) {
      for (const int to : types) {
        Model model(26);
        model.input("x", {1, 8}, from).output("y", to);
        model.node("BitCast", {"x"}, {"y"}, {{"to", to}});
        Bytes given;
        const Bytes result =
            result_of(model, [&](size_t size) { return given = finite_bits(size); });
        EXPECT_EQ(result, given) << type_name(from) << " to " << type_name(to);
      }
    }
  }
}

}  // namespace
}  // namespace millrace::test
