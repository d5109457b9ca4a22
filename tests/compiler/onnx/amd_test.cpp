// Operators of AMD's quantiser that become those of the standard: computed from constants.
#include <gmock/gmock.h>

#include "tests/compiler/onnx_builder.h"
#include "tests/lowering/passes/interpreter.h"

namespace millrace::compiler::test {
namespace {

using ::testing::ElementsAre;

constexpr const char* kDomains[] = {"com.amd.quark", "com.vai.quantize"};
constexpr const char* kPrefixes[] = {"Extended", "Vitis"};

// x -> QuantizeLinear -> DequantizeLinear of the domain, with a zero point of `type`.
Floats round_trip(size_t domain, const Floats& x, float scale, TensorProto::DataType type) {
  Model model(17);
  model.domain(kDomains[domain], 1);
  const std::string prefix = kPrefixes[domain];
  model.constant(tensor("x", {static_cast<int64_t>(x.size())}, x));
  model.constant(tensor("scale", {}, {scale}));
  model.constant(int_tensor("zero", {}, {0}, type));
  model.node(prefix + "QuantizeLinear", {"x", "scale", "zero"}, {"q"});
  model.node(prefix + "DequantizeLinear", {"q", "scale", "zero"}, {"y"});
  for (auto& node : *model.proto.mutable_graph()->mutable_node()) node.set_domain(kDomains[domain]);
  const auto results = lowering::interpret(import_valid(model.input("unused", {1}).output("y")));
  EXPECT_TRUE(results.ok()) << results.status().to_string();
  return results.ok() ? (*results)[0] : Floats();
}

TEST(AmdImport, QuantisesToMoreTypes) {
  for (const size_t domain : {size_t{0}, size_t{1}}) {
    const auto to = [&](TensorProto::DataType type) {
      return round_trip(domain, {-1.3f, 1.3f, 40000}, 0.5f, type);
    };
    EXPECT_THAT(to(TensorProto::INT8), ElementsAre(-1.5f, 1.5f, 63.5f));
    EXPECT_THAT(to(TensorProto::UINT8), ElementsAre(0, 1.5f, 127.5f));
    EXPECT_THAT(to(TensorProto::INT16), ElementsAre(-1.5f, 1.5f, 16383.5f));
    EXPECT_THAT(to(TensorProto::UINT16), ElementsAre(0, 1.5f, 32767.5f));
    EXPECT_THAT(to(TensorProto::INT32), ElementsAre(-1.5f, 1.5f, 40000));
  }
}

// A device computes such types in its own precision.
TEST(AmdImport, HalfTypesAreNotRounded) {
  EXPECT_THAT(round_trip(0, {1.3f, -2}, 0.5f, TensorProto::FLOAT16), ElementsAre(1.3f, -2));
  EXPECT_THAT(round_trip(1, {1.3f, -2}, 0.5f, TensorProto::BFLOAT16), ElementsAre(1.3f, -2));
}

TEST(AmdImport, RefusesMicroscalingByName) {
  Model model(17);
  model.domain(kDomains[0], 1);
  model.node("MXQuantizeDequantize", {"x"}, {"y"});
  model.proto.mutable_graph()->mutable_node(0)->set_domain(kDomains[0]);
  EXPECT_NE(import_failure(model.input("x", {1, 32}).output("y"))
                .message()
                .find("MXQuantizeDequantize (domain com.amd.quark"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::compiler::test
