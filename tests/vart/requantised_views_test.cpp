// The VART-ML face runs quantised models with zero points as programs for the board do: with HW
// views and a scale, but without a zero point.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "graph/archive/codec.h"
#include "lowering/assemble.h"
#include "tests/lowering/passes/graph_maker.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using graph::HwQuantisation;
using ::vart::DataType;

constexpr size_t kInputs = 96, kClasses = 40;
// The model's own scales of the input and of the output.
constexpr float kInputScale = 0.018658f, kOutputScale = 0.03f;

int8_t saturated(double value) {
  return static_cast<int8_t>(std::clamp(std::nearbyint(value), -128.0, 127.0));
}

class RequantisedViews : public RunnerTest {
 protected:
  RequantisedViews() { use_device("cpu"); }

  // The model is input0 [1, 96], UINT8, zero point 114 -> MatMul -> [1, 40], UINT8, zero point 90.
  std::string archive(HwQuantisation hw) {
    lowering::GraphMaker maker;
    const auto x = maker.requantise(maker.input({1, kInputs}), {{kInputScale}, {114}});
    const auto product = maker.add(graph::MatMul{}, {x, maker.random({kInputs, kClasses})});
    maker.output(maker.dequantise(maker.requantise(product, {{kOutputScale}, {90}})));
    const auto model = lowering::assemble(maker.graph, {.hw_quantisation = hw}, "classifier");
    EXPECT_TRUE(model.ok()) << model.status().to_string();
    output_ = model->outputs[0].cpu.name;
    const std::string path = directory_.file(name_of(hw));
    EXPECT_TRUE(model::write_archive(graph::encode(*model), path, model::ArchiveForm::kFile).ok());
    return path;
  }

  std::shared_ptr<Runner> runner(HwQuantisation hw, const Options& options = {}) {
    return RunnerFactory::create_runner(RunnerType::VAIML, archive(hw), options);
  }

  static std::vector<float> numbers(int sample) {
    std::vector<float> numbers(kInputs);
    for (size_t i = 0; i < kInputs; ++i)
      numbers[i] = 2 * std::sin(static_cast<float>(i * 7 + 1) * static_cast<float>(sample + 1));
    return numbers;
  }

  static std::vector<float> through_cpu_views(Runner& runner, const std::vector<float>& numbers) {
    Tensors in = inputs(runner, 1, TensorType::CPU), out = outputs(runner, 1, TensorType::CPU);
    std::ranges::copy(numbers, data<float>(in[0][0]));
    EXPECT_EQ(runner.execute(in, out), StatusCode::SUCCESS);
    const float* scores = data<float>(out[0][0]);
    return {scores, scores + kClasses};
  }

  // Works as programs for the board do. The input comes from another buffer, by its descriptor.
  std::vector<float> through_hw_views(Runner& runner, const std::vector<float>& numbers) const {
    const double scale = runner.get_quant_parameters("input0").scale;
    Tensors frame = inputs(runner), out = outputs(runner);
    std::ranges::transform(numbers, data<int8_t>(frame[0][0]),
                           [scale](float number) { return saturated(number * (1 / scale)); });
    int fd = frame[0][0].export_buffer();
    const Tensors in{{NpuTensor(frame[0][0].get_info(), &fd, MemoryType::DMA_FD)}};
    EXPECT_EQ(runner.execute(in, out), StatusCode::SUCCESS);
    close(fd);
    const double output_scale = runner.get_quant_parameters(output_).scale;
    std::vector<float> scores;
    for (size_t i = 0; i < kClasses; ++i)
      scores.push_back(static_cast<float>(data<int8_t>(out[0][0])[i] * output_scale));
    return scores;
  }

  std::string output_;
};

size_t best(const std::vector<float>& scores) {
  return static_cast<size_t>(std::ranges::max_element(scores) - scores.begin());
}

TEST_F(RequantisedViews, AScaleIsAllThatAProgramHasToKnow) {
  const std::shared_ptr<Runner> runner = this->runner(HwQuantisation::kVendor);
  const double step = runner->get_quant_parameters("input0").scale;
  const double output_step = runner->get_quant_parameters(output_).scale;
  for (int sample = 0; sample < 20; ++sample) {
    SCOPED_TRACE(sample);
    const std::vector<float> given = numbers(sample);
    const std::vector<float> hw = through_hw_views(*runner, given);
    // The numbers as the HW view holds them.
    std::vector<float> held;
    for (const float number : given)
      held.push_back(static_cast<float>(saturated(number / step) * step));
    const std::vector<float> exact = through_cpu_views(*runner, held);
    for (size_t i = 0; i < kClasses; ++i)
      EXPECT_EQ(hw[i], static_cast<float>(saturated(exact[i] / output_step) * output_step)) << i;
    // The winning class is the best one, or one that is equal after rounding: errors of at most
    // half a step of 96 inputs, with weights from -1 to 1 of either sign, move scores by less.
    const std::vector<float> cpu = through_cpu_views(*runner, given);
    EXPECT_GT(cpu[best(hw)], cpu[best(cpu)] - 0.3f);
  }
}

TEST_F(RequantisedViews, HwViewsAreInt8AndCpuViewsFloat32) {
  const std::shared_ptr<Runner> runner = this->runner(HwQuantisation::kVendor);
  for (const std::string& name : {std::string("input0"), output_}) {
    EXPECT_EQ(runner->get_tensor_info_by_name(name, TensorType::HW).data_type, DataType::INT8);
    EXPECT_EQ(runner->get_tensor_info_by_name(name, TensorType::CPU).data_type, DataType::FLOAT32);
    EXPECT_EQ(runner->get_quant_parameters(name).zero_point, 0);
    int exponent = 0;
    EXPECT_EQ(std::frexp(runner->get_quant_parameters(name).scale, &exponent), 0.5);
  }
}

TEST_F(RequantisedViews, ThePrecisionIsInt8InThePropertyAndTheProfile) {
  const std::string cache = directory_.file("cache");
  {
    const std::shared_ptr<Runner> runner = this->runner(
        HwQuantisation::kVendor, {{"ai_analyzer_profiling", true}, {"cache_path", cache}});
    EXPECT_EQ(std::any_cast<std::string>(runner->get_property("precision")), "int8");
  }
  std::vector<std::string> precisions;
  for (const auto& entry : std::filesystem::directory_iterator(cache)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_THAT(text, testing::HasSubstr("\"precision\": \"int8\""));
    precisions.push_back(entry.path().filename());
  }
  EXPECT_THAT(precisions, testing::SizeIs(testing::Ge(1u)));
}

TEST_F(RequantisedViews, AreTakenInPlace) {
  const std::shared_ptr<Runner> runner =
      this->runner(HwQuantisation::kVendor, {{"strict_zero_copy", true}});
  through_hw_views(*runner, numbers(0));
  EXPECT_EQ(std::any_cast<size_t>(runner->get_property("converted_bytes")), 0u);
}

TEST_F(RequantisedViews, CpuViewsAreConverted) {
  const std::shared_ptr<Runner> runner = this->runner(HwQuantisation::kVendor);
  through_cpu_views(*runner, numbers(0));
  EXPECT_EQ(std::any_cast<size_t>(runner->get_property("converted_bytes")),
            (kInputs + kClasses) * sizeof(float));
  const std::shared_ptr<Runner> strict =
      this->runner(HwQuantisation::kVendor, {{"strict_zero_copy", true}});
  Tensors out = outputs(*strict);
  EXPECT_EQ(strict->execute(inputs(*strict, 1, TensorType::CPU), out), StatusCode::INVALID_INPUT);
}

// This holds for both forms of HW views.
TEST_F(RequantisedViews, CpuViewsLoseNothing) {
  const std::shared_ptr<Runner> vendor = runner(HwQuantisation::kVendor);
  const std::shared_ptr<Runner> model = runner(HwQuantisation::kModel);
  EXPECT_EQ(through_cpu_views(*vendor, numbers(3)), through_cpu_views(*model, numbers(3)));
}

TEST_F(RequantisedViews, AnArchiveMayKeepTheModelsForm) {
  const std::shared_ptr<Runner> runner = this->runner(HwQuantisation::kModel);
  EXPECT_EQ(runner->get_tensor_info_by_name("input0", TensorType::HW).data_type, DataType::UINT8);
  EXPECT_FLOAT_EQ(static_cast<float>(runner->get_quant_parameters("input0").scale), kInputScale);
  EXPECT_EQ(runner->get_quant_parameters("input0").zero_point, 114);
  EXPECT_EQ(runner->get_quant_parameters(output_).zero_point, 90);
}

}  // namespace
}  // namespace millrace::vartml
