// Real models: everything they spend time in runs on a fast kernel.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "compiler/compiler.h"
#include "tests/device_cpu/run_model.h"
#include "tests/support/test_models.h"

namespace millrace::device::cpu {
namespace {

using Parameters = std::tuple<std::string, graph::Precision>;

class Model : public ::testing::TestWithParam<Parameters> {};

TEST_P(Model, UsesNoReferenceKernel) {
  const auto& [file, precision] = GetParam();
  const auto path = test::test_model("models/" + file);
  if (!path) GTEST_SKIP() << "the folder of test models is not there";
  const auto model = compiler::compile(*path, {.precision = precision});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const auto program = load(std::make_shared<graph::CompiledModel>(*model));
  for (const StepInfo& step : program->info().steps)
    EXPECT_EQ(step.implementation.find("ref"), std::string::npos)
        << step.operation << " \"" << step.node << "\": " << step.implementation;
}

INSTANTIATE_TEST_SUITE_P(
    All, Model,
    ::testing::Combine(::testing::Values("squeezenet1.1_fp32.onnx", "squeezenet1.1_fp16.onnx",
                                         "mobilenetv2_fp32.onnx", "mnist-8.onnx",
                                         "cifar10_cnn.onnx", "ultraface_rfb320.onnx",
                                         "yunet_n_320_320.onnx", "fastestdet.onnx",
                                         "light_resnet50.onnx", "light_densenet121.onnx",
                                         "light_shufflenet.onnx", "light_inception_v2.onnx",
                                         "light_squeezenet.onnx"),
                       ::testing::Values(graph::Precision::kFp32, graph::Precision::kBf16)),
    [](const auto& info) {
      std::string name = std::get<0>(info.param).substr(0, std::get<0>(info.param).rfind('.'));
      for (char& c : name)
        if (c == '.' || c == '-') c = '_';
      return name + (std::get<1>(info.param) == graph::Precision::kBf16 ? "_bf16" : "_fp32");
    });

}  // namespace
}  // namespace millrace::device::cpu
