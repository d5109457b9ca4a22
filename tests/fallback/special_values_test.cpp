// Passes NaN, infinities, denormal numbers and zeros of either sign through fallback operators.
#include <gmock/gmock.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "fallback/operator_table.h"
#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::compute;
using test::compute_all;
using test::vector_of;
using ::testing::ElementsAre;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
const std::vector<double> kSpecial = {kNan, kInf, -kInf,   -0.0, 0.0, 5e-324, -5e-324,
                                      1,    -1,   1.7e308, -2,   0.5, -kNan};

std::string class_of(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return "finite";
}

double softplus(double x) {
  return std::isnan(x) ? x : std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}
double clamp(double x, double low, double high) {
  return std::isnan(x) ? x : std::fmin(std::fmax(x, low), high);
}

// The functions of one operand, by the name of the operator, with the default attributes.
const std::map<std::string, double (*)(double)>& functions() {
  static const std::map<std::string, double (*)(double)> kFunctions = {
      {"Abs", [](double x) { return std::fabs(x); }},
      {"Acos", [](double x) { return std::acos(x); }},
      {"Acosh", [](double x) { return std::acosh(x); }},
      {"Affine", [](double x) { return x; }},
      {"Asin", [](double x) { return std::asin(x); }},
      {"Asinh", [](double x) { return std::asinh(x); }},
      {"Atan", [](double x) { return std::atan(x); }},
      {"Atanh", [](double x) { return std::atanh(x); }},
      {"Ceil", [](double x) { return std::ceil(x); }},
      {"Celu", [](double x) { return x < 0 ? std::expm1(x) : x; }},
      {"Clip", [](double x) { return x; }},
      {"Cos", [](double x) { return std::cos(x); }},
      {"Cosh", [](double x) { return std::cosh(x); }},
      {"Elu", [](double x) { return x < 0 ? std::expm1(x) : x; }},
      {"Erf", [](double x) { return std::erf(x); }},
      {"Exp", [](double x) { return std::exp(x); }},
      {"Floor", [](double x) { return std::floor(x); }},
      {"Gelu", [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"HardSigmoid", [](double x) { return clamp(0.2 * x + 0.5, 0, 1); }},
      {"HardSwish", [](double x) { return x * clamp(x / 6 + 0.5, 0, 1); }},
      {"LeakyRelu", [](double x) { return x < 0 ? 0.01 * x : x; }},
      {"Log", [](double x) { return std::log(x); }},
      {"Max", [](double x) { return x; }},
      {"Mean", [](double x) { return x; }},
      {"Min", [](double x) { return x; }},
      {"Mish", [](double x) { return x * std::tanh(softplus(x)); }},
      {"Neg", [](double x) { return -x; }},
      {"ParametricSoftplus", softplus},
      {"Reciprocal", [](double x) { return 1 / x; }},
      {"Relu", [](double x) { return x < 0 ? 0 : x; }},
      {"Round", [](double x) { return std::nearbyint(x); }},
      {"Scale", [](double x) { return x; }},
      {"ScaledTanh", [](double x) { return std::tanh(x); }},
      {"Selu", [](double x) { return x < 0 ? std::expm1(x) : x; }},
      // By the definition, x becomes 0 if it is neither below -lambd nor above lambd.
      {"Shrink", [](double x) { return std::fabs(x) > 0.5 ? x : 0; }},
      {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"Sign", [](double x) { return std::isnan(x) ? x : double(x > 0) - double(x < 0); }},
      {"Sin", [](double x) { return std::sin(x); }},
      {"Sinh", [](double x) { return std::sinh(x); }},
      {"Softplus", softplus},
      {"Softsign", [](double x) { return x / (1 + std::fabs(x)); }},
      {"Sqrt", [](double x) { return std::sqrt(x); }},
      {"Sum", [](double x) { return x; }},
      {"Swish", [](double x) { return x / (1 + std::exp(-x)); }},
      {"Tan", [](double x) { return std::tan(x); }},
      {"Tanh", [](double x) { return std::tanh(x); }},
      // By the definition, x becomes 0 if it is not above alpha.
      {"ThresholdedRelu", [](double x) { return x > 1 ? x : 0; }},
      {"com.microsoft.Gelu", [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"com.microsoft.QuickGelu", [](double x) { return x / (1 + std::exp(-1.702 * x)); }},
  };
  return kFunctions;
}

// Names operators of one operand that are not functions of each element; they have tests of their
// own, below or elsewhere.
bool is_no_function(const std::string& name) {
  static const std::set<std::string> kOthers = {"ArgMax",
                                                "ArgMin",
                                                "Crop",
                                                "CumSum",
                                                "Det",
                                                "Dropout",
                                                "Einsum",
                                                "EyeLike",
                                                "Flatten",
                                                "GlobalAveragePool",
                                                "GlobalLpPool",
                                                "GlobalMaxPool",
                                                "Hardmax",
                                                "ImageScaler",
                                                "InstanceNormalization",
                                                "IsInf",
                                                "IsNaN",
                                                "LRN",
                                                "LogSoftmax",
                                                "LpNormalization",
                                                "MeanVarianceNormalization",
                                                "Multinomial",
                                                "NonZero",
                                                "Pad",
                                                "Resize",
                                                "ReverseSequence",
                                                "Softmax",
                                                "Trilu",
                                                "Unique",
                                                "Upsample",
                                                "com.microsoft.AllToAll"};
  return kOthers.contains(name) || name.starts_with("Reduce") || name.starts_with("ai.onnx.ml.") ||
         name.starts_with("millrace.") || name.find("Pool") != name.npos;
}

TEST(FallbackSpecialValues, EveryFunctionOfOneOperand) {
  for (const auto& [name, function] : functions()) {
    if (find_operator(name) == nullptr) continue;
    const std::vector<double> y = compute(name, {vector_of(kSpecial)}).as<double>();
    ASSERT_EQ(y.size(), kSpecial.size());
    for (size_t i = 0; i < y.size(); ++i)
      EXPECT_EQ(class_of(y[i]), class_of(function(kSpecial[i]))) << name << " of " << kSpecial[i];
  }
}

// A new operator has to be added to one of the two lists.
TEST(FallbackSpecialValues, KnowEveryFunctionOfOneOperand) {
  for (const auto family : operator_families())
    for (const OperatorSpec& spec : family) {
      const std::string name = spec.name;
      if (spec.inputs.least > 1 || !spec.types.contains(DataType::kFloat64)) continue;
      const auto result = test::try_compute(name, {vector_of(kSpecial)});
      if (!result.ok() || (*result)[0].type != DataType::kFloat64) continue;
      EXPECT_TRUE(functions().contains(name) || is_no_function(name)) << name;
    }
}

TEST(FallbackSpecialValues, SignsOfZeros) {
  for (const char* name : {"Neg", "Abs", "Ceil", "Floor", "Round", "Sqrt"}) {
    const std::vector<double> y = compute(name, {vector_of<double>({-0.0, 0.0})}).as<double>();
    const auto& function = functions().at(name);
    EXPECT_EQ(std::signbit(y[0]), std::signbit(function(-0.0))) << name;
    EXPECT_EQ(std::signbit(y[1]), std::signbit(function(0.0))) << name;
  }
}

// The first NaN is the maximum and the minimum, as in numpy and ONNX Runtime.
TEST(FallbackSpecialValues, ExtremesAreTheFirstNan) {
  const auto extreme = [](const char* name, const std::vector<double>& x, int64_t last) {
    return compute(name, {vector_of(x)}, {{"axis", int64_t{0}}, {"select_last_index", last}})
        .as<int64_t>()[0];
  };
  for (const char* name : {"ArgMax", "ArgMin"}) {
    EXPECT_EQ(extreme(name, {1, kNan, 3, 2}, 0), 1) << name;
    EXPECT_EQ(extreme(name, {kNan, 1, kNan, 2}, 0), 0) << name;
    EXPECT_EQ(extreme(name, {kNan, 1, kNan, 2}, 1), 2) << name;
  }
  EXPECT_EQ(extreme("ArgMax", {1, kInf, 3, -kInf}, 0), 1);
  EXPECT_EQ(extreme("ArgMin", {1, kInf, 3, -kInf}, 0), 3);
  EXPECT_THAT(compute("Hardmax", {vector_of<double>({1, kNan, 3})}).as<double>(),
              ElementsAre(0, 1, 0));
}

TEST(FallbackSpecialValues, NanIsTheLargestOfAWindow) {
  const auto image = test::array<double>({1, 1, 6}, {1, kNan, 2, 3, -kInf, -kInf});
  const test::Attributes window = {{"kernel_shape", Dims{2}}, {"strides", Dims{2}}};
  const auto both = compute_all("MaxPool", {image}, window, 2);
  const std::vector<double> y = both[0].as<double>();
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 3);
  EXPECT_EQ(y[2], -kInf);
  EXPECT_THAT(both[1].as<int64_t>(), ElementsAre(1, 3, 4));
  EXPECT_TRUE(std::isnan(compute("GlobalMaxPool", {image}).as<double>()[0]));
}

TEST(FallbackSpecialValues, NanIsTheExtremeOfScatteredElements) {
  for (const char* reduction : {"min", "max"}) {
    const std::vector<double> y =
        compute("ScatterElements",
                {vector_of<double>({kNan, 1, 2}), vector_of<int64_t>({0, 1, 2}),
                 vector_of<double>({1, kNan, 3})},
                {{"axis", int64_t{0}}, {"reduction", std::string(reduction)}})
            .as<double>();
    EXPECT_TRUE(std::isnan(y[0])) << reduction;
    EXPECT_TRUE(std::isnan(y[1])) << reduction;
    EXPECT_FALSE(std::isnan(y[2])) << reduction;
  }
}

TEST(FallbackSpecialValues, NanIsTheLargestOfARegion) {
  std::vector<double> elements(16, 1);
  elements[5] = kNan;
  const auto picture = test::array<double>({1, 1, 4, 4}, elements);
  const auto region = test::array<double>({1, 5}, {0, 0, 0, 3, 3});
  const std::vector<double> y =
      compute("MaxRoiPool", {picture, region}, {{"pooled_shape", Dims{2, 2}}}).as<double>();
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[3], 1);
}

TEST(FallbackSpecialValues, RowsOfASoftmax) {
  const auto x = test::array<double>({4, 2}, {1, kNan, -kInf, -kInf, kInf, 1, -kInf, 1});
  const std::vector<double> y = compute("Softmax", {x}).as<double>();
  for (size_t i = 0; i < 6; ++i) EXPECT_TRUE(std::isnan(y[i])) << i;
  EXPECT_EQ(y[6], 0);
  EXPECT_EQ(y[7], 1);
}

}  // namespace
}  // namespace millrace::fallback
