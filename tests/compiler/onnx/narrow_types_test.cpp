// Values of types that files have and networks do not: what follows from their types.
#include <gmock/gmock.h>

#include "tests/compiler/onnx_builder.h"
#include "tests/lowering/passes/interpreter.h"

namespace millrace::compiler::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Numbers of types that the ONNX library does not know yet.
constexpr int kFloat8E4M3FN = 17, kInt4 = 22, kInt2 = 26, kUint2 = 25;

TensorProto packed(const std::string& name, int type, const Dims& dims, const std::string& bytes) {
  TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const int64_t dim : dims) tensor.add_dims(dim);
  tensor.set_raw_data(bytes);
  return tensor;
}

Floats outputs_of(Model model) {
  const auto results = lowering::interpret(import_valid(model.input("unused", {1}).output("y")));
  EXPECT_TRUE(results.ok()) << results.status().to_string();
  return results.ok() ? (*results)[0] : Floats();
}

TEST(NarrowTypesImport, TheZeroPointSaysToWhatIsQuantised) {
  const auto rounded = [](int type, const std::string& zero) {
    Model model(25);
    model.floats("x", {3}, {-9, 1.3f, 500}).floats("scale", {}, {1});
    model.constant(packed("zero", type, {}, zero));
    model.node("QuantizeLinear", {"x", "scale", "zero"}, {"q"});
    return outputs_of(model.node("DequantizeLinear", {"q", "scale", "zero"}, {"y"}));
  };
  const std::string zero(1, '\0');
  EXPECT_THAT(rounded(kInt4, "\x01"), ElementsAre(-9, 1, 6));
  EXPECT_THAT(rounded(kInt2, zero), ElementsAre(-2, 1, 1));
  EXPECT_THAT(rounded(kUint2, zero), ElementsAre(0, 1, 3));
  EXPECT_THAT(rounded(kFloat8E4M3FN, zero), ElementsAre(-9, 1.25f, 448));
}

TEST(NarrowTypesImport, CastsRoundToTheType) {
  Model model(25);
  model.floats("x", {4}, {-9, 1.3f, 500, 3.9f});
  Model fourth(model);
  EXPECT_THAT(outputs_of(model.node("Cast", {"x"}, {"n"}, {{"to", kFloat8E4M3FN}})
                             .node("Cast", {"n"}, {"y"}, {{"to", TensorProto::FLOAT}})),
              ElementsAre(-9, 1.25f, 448, 4));
  EXPECT_THAT(outputs_of(fourth.node("Cast", {"x"}, {"n"}, {{"to", kInt4}})
                             .node("Cast", {"n"}, {"y"}, {{"to", TensorProto::FLOAT}})),
              ElementsAre(-8, 1, 7, 4));
}

TEST(NarrowTypesImport, CastLikeTakesTheTypeOfAConstant) {
  Model model(25);
  model.floats("x", {2}, {-9, 1.3f});
  model.constant(packed("like", kInt2, {1}, "\x01"));
  EXPECT_THAT(outputs_of(model.node("CastLike", {"x", "like"}, {"n"})
                             .node("Cast", {"n"}, {"y"}, {{"to", TensorProto::FLOAT}})),
              ElementsAre(-2, 1));
}

// The type follows from the zero point of a QuantizeLinear, or by way of another CastLike.
TEST(NarrowTypesImport, CastLikeTakesTheTypeOfAResult) {
  const auto to_float = [](Model& model, const char* from) -> Model& {
    return model.node("Cast", {from}, {"y"}, {{"to", TensorProto::FLOAT}});
  };
  Model like_quantised(25);
  like_quantised.floats("x", {1}, {1}).floats("scale", {}, {1}).floats("z", {2}, {17, 500});
  like_quantised.constant(packed("zero", kFloat8E4M3FN, {}, std::string(1, '\0')));
  like_quantised.node("QuantizeLinear", {"x", "scale", "zero"}, {"q"});
  EXPECT_THAT(outputs_of(to_float(like_quantised.node("CastLike", {"z", "q"}, {"n"}), "n")),
              ElementsAre(16, 448));
  Model twice(25);
  twice.floats("a", {1}, {1}).floats("b", {2}, {-9, 100});
  twice.constant(packed("like", kInt4, {1}, "\x01")).node("CastLike", {"a", "like"}, {"first"});
  EXPECT_THAT(outputs_of(to_float(twice.node("CastLike", {"b", "first"}, {"n"}), "n")),
              ElementsAre(-8, 7));
}

TEST(NarrowTypesImport, ValuesKeepTheirTypeWhenTheyAreReshaped) {
  struct Case {
    const char* type;
    Dims dims, second;  // of the zero points, and the second operand, if there is one
  };
  for (const Case& example : {Case{"Identity", {3}, {}}, Case{"Reshape", {3, 1}, {3}},
                              Case{"Squeeze", {3, 1}, {1}}, Case{"Transpose", {3}, {}}}) {
    Model model(25);
    model.floats("x", {3}, {-9, 1.3f, 500}).floats("scale", {3}, {1, 1, 1});
    model.constant(packed("zero", kInt4, example.dims, std::string(2, '\0')));
    model.ints("second", example.second);
    model.node(example.type, example.second.empty() ? Names{"zero"} : Names{"zero", "second"},
               {"same"});
    model.node("QuantizeLinear", {"x", "scale", "same"}, {"q"}, {{"axis", 0}});
    model.node("DequantizeLinear", {"q", "scale", "same"}, {"y"}, {{"axis", 0}});
    EXPECT_THAT(outputs_of(model), ElementsAre(-8, 1, 7)) << example.type;
  }
}

TEST(NarrowTypesImport, BitCastStartsFromTheTypeOfTheFile) {
  Model model(26);
  model.constant(int_tensor("x", {2}, {0x3c00, 0xc000}, TensorProto::FLOAT16));
  EXPECT_THAT(outputs_of(model.node("BitCast", {"x"}, {"bits"}, {{"to", TensorProto::INT16}})
                             .node("Cast", {"bits"}, {"y"}, {{"to", TensorProto::FLOAT}})),
              ElementsAre(0x3c00, -0x4000));
  Model cast(26);
  cast.floats("x", {1}, {1}).node("Cast", {"x"}, {"n"}, {{"to", kFloat8E4M3FN}});
  EXPECT_THAT(outputs_of(cast.node("BitCast", {"n"}, {"bits"}, {{"to", TensorProto::UINT8}})
                             .node("Cast", {"bits"}, {"y"}, {{"to", TensorProto::FLOAT}})),
              ElementsAre(0x38));
}

TEST(NarrowTypesImport, InputsCannotHaveThem) {
  Model model(25);
  model.input("x", {2}, kInt2).output("y");
  EXPECT_THAT(
      import_failure(model.node("Cast", {"x"}, {"y"}, {{"to", TensorProto::FLOAT}})).message(),
      HasSubstr("tensors of type INT2 are not supported"));
}

}  // namespace
}  // namespace millrace::compiler::test
