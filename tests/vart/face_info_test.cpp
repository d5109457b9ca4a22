// Tests what a runner says about models with several tensors, batches and quantised boundaries.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "graph/archive/codec.h"
#include "tests/support/relu_model.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::vart::MemoryLayout;
using ::vart::RoundingMode;

constexpr TensorDirection kDirections[] = {TensorDirection::INPUT, TensorDirection::OUTPUT};
constexpr TensorType kTypes[] = {TensorType::CPU, TensorType::HW};

void expect_same(const NpuTensorInfo& a, const NpuTensorInfo& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.data_type, b.data_type);
  EXPECT_EQ(a.direction, b.direction);
  EXPECT_EQ(a.tensor_type, b.tensor_type);
  EXPECT_EQ(a.memory_layout, b.memory_layout);
  EXPECT_EQ(a.memory_layout_order, b.memory_layout_order);
  EXPECT_EQ(a.size, b.size);
  EXPECT_EQ(a.size_in_bytes, b.size_in_bytes);
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.strides, b.strides);
}

void expect_same_descriptions(const Runner& a, const Runner& b) {
  for (const TensorDirection direction : kDirections)
    for (const TensorType type : kTypes) {
      const auto& of_a = a.get_tensors_info(direction, type);
      const auto& of_b = b.get_tensors_info(direction, type);
      ASSERT_EQ(of_a.size(), of_b.size());
      for (size_t i = 0; i < of_a.size(); ++i) expect_same(of_a[i], of_b[i]);
    }
}

class FaceInfo : public RunnerTest {
 protected:
  std::shared_ptr<Runner> runner_of(const graph::CompiledModel& model,
                                    const Options& options = {}) {
    const std::string path = directory_.file("model.rai");
    EXPECT_TRUE(model::write_archive(graph::encode(model), path, model::ArchiveForm::kFile).ok());
    return RunnerFactory::create_runner(RunnerType::VAIML, path, options);
  }

  static std::vector<std::string> names(const Runner& runner, TensorDirection direction,
                                        TensorType type) {
    std::vector<std::string> result;
    for (const NpuTensorInfo& info : runner.get_tensors_info(direction, type))
      result.push_back(info.name);
    return result;
  }
};

TEST_F(FaceInfo, NoOptionChangesWhatAViewLooksLike) {
  const std::shared_ptr<Runner> plain = runner_of(test::pair_model());
  for (const char* input : {"CPU", "HW"})
    for (const char* output : {"CPU", "HW"})
      expect_same_descriptions(
          *plain, *runner_of(test::pair_model(), {{"input_tensor_type", std::string(input)},
                                                  {"output_tensor_type", std::string(output)}}));
}

TEST_F(FaceInfo, NoBatchSizeChangesWhatAFrameLooksLike) {
  const std::shared_ptr<Runner> batched = runner_of(test::pair_model(4));
  expect_same_descriptions(*runner_of(test::pair_model()), *batched);
  EXPECT_EQ(batched->get_batch_size(), 4u);
  EXPECT_EQ(batched->get_batch_size(TensorDirection::INPUT), 4u);
  EXPECT_EQ(batched->get_batch_size(TensorDirection::OUTPUT), 4u);
}

TEST_F(FaceInfo, BothViewsListTheTensorsInTheModelsOrder) {
  const std::shared_ptr<Runner> runner = runner_of(test::pair_model());
  EXPECT_EQ(runner->get_num_input_tensors(), 2u);
  EXPECT_EQ(runner->get_num_output_tensors(), 2u);
  for (const TensorType type : kTypes) {
    EXPECT_THAT(names(*runner, TensorDirection::INPUT, type), ElementsAre("values", "image"));
    EXPECT_THAT(names(*runner, TensorDirection::OUTPUT, type),
                ElementsAre("positive_values", "positive_image"));
  }
}

TEST_F(FaceInfo, EveryDescriptionIsWholeAndFoundByItsName) {
  const std::shared_ptr<Runner> runner = runner_of(test::pair_model());
  for (const TensorDirection direction : kDirections)
    for (const TensorType type : kTypes)
      for (const NpuTensorInfo& info : runner->get_tensors_info(direction, type)) {
        EXPECT_EQ(&runner->get_tensor_info_by_name(info.name, type), &info);
        EXPECT_EQ(info.direction, direction);
        EXPECT_EQ(info.tensor_type, type);
        EXPECT_EQ(info.size_in_bytes, info.size * 4);
        EXPECT_EQ(info.strides.size(), info.shape.size());
        EXPECT_EQ(info.strides.front() * info.shape.front(), info.size);
        EXPECT_EQ(info.strides.back(), 1u);
        EXPECT_EQ(info.memory_layout_order.empty(), info.memory_layout != MemoryLayout::GENERIC);
      }
}

TEST_F(FaceInfo, ATensorThatIsNoImageIsGenericInItsOwnOrder) {
  const std::shared_ptr<Runner> runner = runner_of(test::pair_model());
  for (const TensorType type : kTypes) {
    const NpuTensorInfo& info = runner->get_tensor_info_by_name("values", type);
    EXPECT_EQ(info.memory_layout, MemoryLayout::GENERIC);
    EXPECT_THAT(info.memory_layout_order, ElementsAre(0, 1));
    EXPECT_THAT(info.shape, ElementsAre(1, 6));
  }
}

TEST_F(FaceInfo, OneViewOnlyOnOneSideLeavesTheOtherSideAlone) {
  graph::CompiledModel model = test::pair_model();
  for (graph::Boundary& output : model.outputs) output.hw.reset();
  const std::shared_ptr<Runner> runner =
      runner_of(model, {{"output_tensor_type", std::string("CPU")}});
  EXPECT_THAT(names(*runner, TensorDirection::INPUT, TensorType::HW),
              ElementsAre("values", "image"));
  EXPECT_THAT(names(*runner, TensorDirection::OUTPUT, TensorType::HW), IsEmpty());
  EXPECT_THAT(names(*runner, TensorDirection::OUTPUT, TensorType::CPU),
              ElementsAre("positive_values", "positive_image"));
  EXPECT_EQ(runner->get_quant_parameters("positive_image").scale, 1.0);
  EXPECT_THROW(runner_of(model), std::runtime_error) << "HW is the default";
}

TEST_F(FaceInfo, TensorsThatAreNotQuantisedHaveScaleOne) {
  const std::shared_ptr<Runner> runner = runner_of(test::pair_model());
  for (const char* name : {"values", "image", "positive_values", "positive_image"}) {
    EXPECT_EQ(runner->get_quant_parameters(name).scale, 1.0) << name;
    EXPECT_EQ(runner->get_quant_parameters(name).zero_point, 0) << name;
  }
}

TEST_F(FaceInfo, PathsOfEverySpellingLeadToTheModel) {
  const std::string form = directory_.file("form"), link = directory_.file("link.rai");
  ASSERT_TRUE(test::write_tiny_model(form, {}, model::ArchiveForm::kDirectory).ok());
  std::filesystem::create_symlink(model(), link);
  for (const std::string& path :
       {form, form + "/", form + "/.", directory_.file("./tiny.rai"), link})
    EXPECT_NO_THROW(RunnerFactory::create_runner(RunnerType::VAIML, path)) << path;
}

TEST_F(FaceInfo, TheInnerOrderOfExecuteIsThatOfTheDescriptions) {
  use_device("cpu");
  const std::shared_ptr<Runner> runner = runner_of(test::pair_model());
  for (const TensorType type : kTypes) {
    Tensors in = inputs(*runner, 1, type), out = outputs(*runner, 1, type);
    for (size_t tensor = 0; tensor < 2; ++tensor) {
      const std::vector<float> values = test::tiny_numbers(in[0][tensor].get_info().size, 1);
      std::copy(values.begin(), values.end(), data<float>(in[0][tensor]));
    }
    ASSERT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
    EXPECT_EQ(data<float>(out[0][0])[0], 0.0f);
    for (size_t i = 0; i < 6; ++i)
      EXPECT_EQ(data<float>(out[0][0])[i], std::max(0.0f, data<float>(in[0][0])[i]));
    for (size_t i = 0; i < 48; ++i) {
      // The fourth channel of the HW view is padding.
      const size_t at = type == TensorType::HW ? i / 3 * 4 + i % 3 : i;
      EXPECT_EQ(data<float>(out[0][1])[at], std::max(0.0f, data<float>(in[0][1])[at]));
    }
    std::swap(in[0][0], in[0][1]);
    EXPECT_EQ(runner->execute(in, out), StatusCode::INVALID_INPUT)
        << "too small for the model's tensor";
  }
}

}  // namespace
}  // namespace millrace::vartml
