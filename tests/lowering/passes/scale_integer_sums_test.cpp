#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using tensor::DataType;
using ::testing::ElementsAre;

class ScaleIntegerSums : public ::testing::Test {
 protected:
  // The sums of a 1x1 convolution of `x`, as FLOAT32.
  ValueId sums(Dims weights = {3, 4, 1, 1}) {
    const Dims dims = {1, weights[0], 6, 5};
    return cast(add_fallback("ConvInteger", {x, bytes(std::move(weights))}, dims));
  }
  ValueId product() {
    return cast(add_fallback("MatMulInteger", {image({2, 5, 4}), bytes({4, 3})}, {2, 5, 3}));
  }
  // Shape functions of such operators are not the graph's.
  ValueId add_fallback(const char* name, std::vector<ValueId> inputs, Dims shape,
                       DataType type = DataType::kInt32) {
    const ValueId y = maker.graph.add_value({name, type, std::move(shape), {}});
    maker.graph.nodes.push_back({name, graph::Fallback{name, {}}, std::move(inputs), {y}});
    return y;
  }
  // An input, quantised.
  ValueId image(const Dims& shape) {
    return add_fallback("QuantizeLinear", {maker.input(shape), maker.number(0.015625f)}, shape,
                        DataType::kUint8);
  }
  ValueId bytes(Dims shape) {
    std::vector<int8_t> elements(static_cast<size_t>(shape[0] * shape[1]));
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<int8_t>(20 * i - 90);
    return maker.graph.add_constant("bytes", DataType::kInt8, std::move(shape),
                                    graph::Constant::of(elements));
  }
  ValueId cast(ValueId y) { return maker.add(graph::Cast{DataType::kFloat32}, {y}); }
  ValueId mul(ValueId a, ValueId b) { return maker.binary(BinaryKind::kMul, a, b); }
  ValueId add(ValueId a, ValueId b) { return maker.binary(BinaryKind::kAdd, a, b); }
  // The operators that the pass leaves, without those that make the images.
  std::vector<std::string> run() {
    auto names = operators_of(run_pass(scale_integer_sums, maker.graph));
    std::erase(names, "QuantizeLinear");
    return names;
  }

  GraphMaker maker;
  ValueId x = image({1, 4, 6, 5});
  ValueId scale = maker.input({});
};

TEST_F(ScaleIntegerSums, IntoTheConvolution) {
  maker.output(add(mul(sums(), scale), maker.random({1, 3, 1, 1})));
  EXPECT_THAT(run(), ElementsAre("millrace.ConvIntegerToFloat"));
}

TEST_F(ScaleIntegerSums, IntoTheMatrixProduct) {
  maker.output(add(maker.random({3}), mul(maker.random({3}), product())));
  EXPECT_THAT(run(), ElementsAre("millrace.MatMulIntegerToFloat"));
}

TEST_F(ScaleIntegerSums, WithoutBias) {
  maker.output(mul(scale, sums()));
  EXPECT_THAT(run(), ElementsAre("millrace.ConvIntegerToFloat"));
}

TEST_F(ScaleIntegerSums, NotOfOtherShapes) {
  maker.output(mul(sums(), maker.random({1, 1, 6, 1})));
  maker.output(mul(sums({1, 4, 1, 1}), maker.random({1, 3, 1, 1})));
  maker.output(add(mul(sums(), scale), maker.random({1, 3, 6, 5})));
  EXPECT_THAT(run(), ElementsAre("ConvInteger", "Cast", "Mul", "ConvInteger", "Cast", "Mul",
                                 "millrace.ConvIntegerToFloat", "Add"));
}

TEST_F(ScaleIntegerSums, NotWhereTheSumsAreReadElsewhere) {
  const ValueId y = sums();
  maker.output(mul(y, scale));
  maker.output(y);
  EXPECT_THAT(run(), ElementsAre("ConvInteger", "Cast", "Mul"));
}

TEST_F(ScaleIntegerSums, NotOfTheirSquare) {
  const ValueId y = sums();
  maker.output(mul(y, y));
  EXPECT_THAT(run(), ElementsAre("ConvInteger", "Cast", "Mul"));
}

TEST_F(ScaleIntegerSums, ABiasIsAddedOnce) {
  maker.output(add(add(mul(sums(), scale), maker.random({3, 1, 1})), maker.random({3, 1, 1})));
  EXPECT_THAT(run(), ElementsAre("millrace.ConvIntegerToFloat", "Add"));
}

}  // namespace
}  // namespace millrace::lowering
