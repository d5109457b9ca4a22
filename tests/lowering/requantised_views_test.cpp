// Tests which boundaries get HW views in the vendor's form, what an archive keeps of these views,
// and which false statements of an archive are refused.
#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "graph/archive/codec.h"
#include "lowering/assemble.h"
#include "model/archive_header.h"
#include "tests/lowering/passes/graph_maker.h"

namespace millrace::lowering {
namespace {

using graph::Boundary;
using graph::CompiledModel;
using graph::HwQuantisation;
using graph::Quantisation;
using tensor::DataType;
using tensor::QuantParams;
using tensor::Rounding;
using ::testing::HasSubstr;

// The network is Image -> UINT8, zero point 114 -> Conv -> integers of `output` -> FLOAT32.
CompiledModel network(HwQuantisation hw, const Quantisation& output = {{0.25f}, {0}},
                      DataType output_type = DataType::kInt8) {
  GraphMaker maker;
  const auto x = maker.requantise(maker.input({1, 3, 8, 8}), {{0.018658f}, {114}});
  maker.output(maker.dequantise(maker.requantise(maker.conv(x, 24, 3), output, output_type)));
  auto model = assemble(maker.graph, {.hw_quantisation = hw}, "tiny");
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  return model.ok() ? *std::move(model) : CompiledModel();
}

Result<CompiledModel> archived(const CompiledModel& model) {
  const auto bytes =
      std::make_shared<const std::vector<std::byte>>(model::archive_bytes(graph::encode(model)));
  MILLRACE_ASSIGN_OR_RETURN(const auto archive, model::Archive::from_memory(*bytes, bytes));
  return graph::decode(archive);
}

void expect_form(const Boundary& boundary, DataType type, double scale, int zero_point,
                 bool requantised) {
  SCOPED_TRACE(boundary.cpu.name);
  EXPECT_EQ(boundary.cpu.type, DataType::kFloat32);
  EXPECT_EQ(boundary.hw->type, type);
  EXPECT_EQ(boundary.quant, (QuantParams{scale, zero_point, Rounding::kNearestEven}));
  EXPECT_EQ(boundary.requantised, requantised);
}

TEST(RequantisedViews, AreForWhatIsNotInTheVendorsFormAlready) {
  const CompiledModel model = network(HwQuantisation::kVendor);
  expect_form(model.inputs[0], DataType::kInt8, 0.03125, 0, true);
  EXPECT_EQ(model.inputs[0].hw->layout, tensor::Layout::kHcwnc4);
  expect_form(model.outputs[0], DataType::kInt8, 0.25, 0, false);
  const CompiledModel other =
      network(HwQuantisation::kVendor, {{1 / 255.0f}, {0}}, DataType::kUint8);
  expect_form(other.outputs[0], DataType::kInt8, 1 / 128.0, 0, true);
}

TEST(RequantisedViews, AreLeftOutWhereTheModelsFormIsWanted) {
  const CompiledModel model = network(HwQuantisation::kModel);
  expect_form(model.inputs[0], DataType::kUint8, 0.018658f, 114, false);
  expect_form(model.outputs[0], DataType::kInt8, 0.25, 0, false);
}

TEST(RequantisedViews, AreOfFloatingPointTensorsOnly) {
  GraphMaker maker;
  const auto x = maker.input({1, 3, 8, 8});
  maker.output(maker.unary(graph::UnaryKind::kTanh, x));
  const auto model = assemble(maker.graph, {.hw_quantisation = HwQuantisation::kVendor}, "tanh");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->inputs[0].hw->type, DataType::kFloat32);
  EXPECT_EQ(model->inputs[0].quant, QuantParams());
  EXPECT_FALSE(model->inputs[0].requantised);
}

TEST(RequantisedViews, AreKeptByAnArchiveOfANewerVersion) {
  const CompiledModel model = network(HwQuantisation::kVendor);
  EXPECT_EQ(graph::encode(model).version, model::kRequantisedFormatVersion);
  const auto decoded = archived(model);
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  expect_form(decoded->inputs[0], DataType::kInt8, 0.03125, 0, true);
  expect_form(decoded->outputs[0], DataType::kInt8, 0.25, 0, false);
}

TEST(RequantisedViews, WithoutThemArchivesAreThoseOfOlderVersions) {
  const CompiledModel model = network(HwQuantisation::kModel);
  EXPECT_EQ(graph::encode(model).version, model::kQuantisedFormatVersion);
  const auto decoded = archived(model);
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  expect_form(decoded->inputs[0], DataType::kUint8, 0.018658f, 114, false);
}

struct HostileView {
  const char* name;
  std::function<void(CompiledModel&)> change;
  const char* reason;
};

class HostileViews : public ::testing::TestWithParam<HostileView> {};

TEST_P(HostileViews, AreRefusedWithTheReason) {
  CompiledModel model = network(HwQuantisation::kVendor);
  GetParam().change(model);
  const Status status = archived(model).status();
  EXPECT_EQ(status.code(), StatusCode::kCorruptData);
  EXPECT_THAT(status.message(), HasSubstr(GetParam().reason));
}

void set_scale(CompiledModel& model, double scale) {
  model.inputs[0].quant.scale = scale;
}

const HostileView kHostileViews[] = {
    {"ScaleIsNoPowerOfTwo", [](auto& m) { set_scale(m, 0.3); }, "INT8 with scale 0.3 and"},
    {"ScaleZero", [](auto& m) { set_scale(m, 0); }, "its scale is 0"},
    {"ScaleNegative", [](auto& m) { set_scale(m, -0.5); }, "its scale is -0.5"},
    {"ScaleNan", [](auto& m) { set_scale(m, std::numeric_limits<double>::quiet_NaN()); },
     "its scale is nan"},
    {"ScaleInfinite", [](auto& m) { set_scale(m, std::numeric_limits<double>::infinity()); },
     "its scale is inf"},
    {"ScaleTooSmallForFloat32", [](auto& m) { set_scale(m, 0x1p-1000); }, "2^-126"},
    {"ScaleWithoutAReciprocal", [](auto& m) { set_scale(m, 0x1p-127); }, "2^-126"},
    {"ScaleTooGreatForFloat32", [](auto& m) { set_scale(m, 0x1p+1000); }, "2^120"},
    {"ZeroPoint", [](auto& m) { m.inputs[0].quant.zero_point = 3; }, "zero point 3"},
    {"Unsigned",
     [](auto& m) {
       m.inputs[0].hw = tensor::make_hw_desc(m.inputs[0].cpu, DataType::kUint8).value();
     },
     "requantised to UINT8 with"},
    {"RoundingTowardZero", [](auto& m) { m.inputs[0].quant.rounding = Rounding::kTowardZero; },
     "rounded to nearest even"},
    {"FloatingPoint",
     [](auto& m) {
       m.inputs[0].hw = tensor::make_hw_desc(m.inputs[0].cpu, DataType::kFloat32).value();
     },
     "requantised to FLOAT32 with"},
    {"NoHwView", [](auto& m) { m.inputs[0].hw.reset(); }, "the graph does not quantise it"},
    {"AlreadyInTheForm", [](auto& m) { m.outputs[0].requantised = true; },
     "the form of the graph itself"},
    {"NotSaid", [](auto& m) { m.inputs[0].requantised = false; }, "what the graph quantises"},
    {"NotQuantised",
     [](auto& m) {
       m.graph.values[m.graph.nodes[0].outputs[0]].quantisation->scales.assign(3, 0.25f);
       m.graph.values[m.graph.nodes[0].outputs[0]].quantisation->zero_points.assign(3, 0);
       m.graph.values[m.graph.nodes[0].outputs[0]].quantisation->axis = 1;
     },
     "the graph does not quantise it"},
    {"FormUnknown", [](auto& m) { m.hw_quantisation = static_cast<HwQuantisation>(2); },
     "HW quantisation 2 does not exist"}};

INSTANTIATE_TEST_SUITE_P(All, HostileViews, ::testing::ValuesIn(kHostileViews),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace millrace::lowering
