// Tests what a runner says about its model.
#include <gmock/gmock.h>

#include <stdexcept>

#include "graph/archive/codec.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::vart::DataType;
using ::vart::MemoryLayout;

class RunnerInfo : public RunnerTest {
 protected:
  static std::string creation_error(RunnerType type, const std::string& path,
                                    const Options& options = {}) {
    try {
      RunnerFactory::create_runner(type, path, options);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "created";
  }
};

TEST_F(RunnerInfo, DescribesBothViewsOfEveryTensor) {
  const std::shared_ptr<Runner> runner = make_runner();
  const auto& cpu_inputs = runner->get_tensors_info(TensorDirection::INPUT, TensorType::CPU);
  const auto& hw_outputs = runner->get_tensors_info(TensorDirection::OUTPUT, TensorType::HW);
  ASSERT_THAT(cpu_inputs, SizeIs(1));
  ASSERT_THAT(hw_outputs, SizeIs(1));

  const NpuTensorInfo& input = cpu_inputs[0];
  EXPECT_EQ(input.name, "data");
  EXPECT_EQ(input.data_type, DataType::FLOAT32);
  EXPECT_EQ(input.direction, TensorDirection::INPUT);
  EXPECT_EQ(input.tensor_type, TensorType::CPU);
  EXPECT_EQ(input.memory_layout, MemoryLayout::NCHW);
  EXPECT_THAT(input.shape, ElementsAre(1, 3, 4, 4));
  EXPECT_THAT(input.strides, ElementsAre(48, 16, 4, 1));
  EXPECT_EQ(input.size, 48u);
  EXPECT_EQ(input.size_in_bytes, 192u);

  const NpuTensorInfo& output = hw_outputs[0];
  EXPECT_EQ(output.name, "probs");
  EXPECT_EQ(output.direction, TensorDirection::OUTPUT);
  EXPECT_EQ(output.tensor_type, TensorType::HW);
  EXPECT_EQ(output.memory_layout, MemoryLayout::HCWNC8);
  EXPECT_THAT(output.shape, ElementsAre(4, 2, 4, 1, 8));
  EXPECT_EQ(output.size, 256u) << "padding lanes count";
  EXPECT_EQ(output.size_in_bytes, 1024u);
}

TEST_F(RunnerInfo, HwViewsHaveTheTypeOfThePrecision) {
  const std::shared_ptr<Runner> runner = make_runner({}, {.precision = graph::Precision::kBf16});
  const NpuTensorInfo& input = runner->get_tensor_info_by_name("data", TensorType::HW);
  EXPECT_EQ(input.data_type, DataType::BF16);
  EXPECT_EQ(input.memory_layout, MemoryLayout::HCWNC4);
  EXPECT_EQ(input.size_in_bytes, 4u * 4 * 4 * 2);
  EXPECT_EQ(runner->get_tensor_info_by_name("data", TensorType::CPU).data_type, DataType::FLOAT32);
}

TEST_F(RunnerInfo, ReferencesStayValid) {
  const std::shared_ptr<Runner> runner = make_runner();
  const auto& first = runner->get_tensors_info(TensorDirection::INPUT, TensorType::HW);
  const auto& second = runner->get_tensors_info(TensorDirection::INPUT, TensorType::HW);
  EXPECT_EQ(&first, &second);
  EXPECT_EQ(&first[0], &runner->get_tensor_info_by_name("data", TensorType::HW));
}

TEST_F(RunnerInfo, AllOfItIsPerFrameWhateverTheBatchSize) {
  const std::shared_ptr<Runner> runner = make_runner({}, {.batch_size = 4});
  EXPECT_EQ(runner->get_batch_size(), 4u);
  EXPECT_EQ(runner->get_batch_size(TensorDirection::INPUT), 4u);
  EXPECT_EQ(runner->get_batch_size(TensorDirection::OUTPUT), 4u);
  EXPECT_THAT(runner->get_tensor_info_by_name("data", TensorType::CPU).shape,
              ElementsAre(1, 3, 4, 4));
  EXPECT_EQ(runner->get_num_input_tensors(), 1u);
  EXPECT_EQ(runner->get_num_output_tensors(), 1u);
}

TEST_F(RunnerInfo, EveryTensorHasQuantParameters) {
  const std::shared_ptr<Runner> runner = make_runner();
  for (const char* name : {"data", "probs"}) {
    EXPECT_EQ(runner->get_quant_parameters(name).scale, 1.0);
    EXPECT_EQ(runner->get_quant_parameters(name).zero_point, 0);
  }
}

template <class Error, class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(RunnerInfo, ANameThatIsNotThereIsAnsweredWithThoseThatAre) {
  const std::shared_ptr<Runner> runner = make_runner();
  const auto there = AllOf(HasSubstr("\"nosuch\""), HasSubstr("\"data\", \"probs\""));
  EXPECT_THAT(error_of<std::runtime_error>([&] { runner->get_quant_parameters("nosuch"); }), there);
  for (const TensorType type : {TensorType::CPU, TensorType::HW})
    EXPECT_THAT(
        error_of<std::runtime_error>([&] { runner->get_tensor_info_by_name("nosuch", type); }),
        there);
  EXPECT_THAT(error_of<std::invalid_argument>([&] { runner->get_property("nosuch"); }),
              AllOf(HasSubstr("\"nosuch\""), HasSubstr("model_name"), HasSubstr("ddr_free_bytes")));
}

TEST_F(RunnerInfo, ADirectionOrViewThatDoesNotExistIsRefused) {
  const std::shared_ptr<Runner> runner = make_runner();
  EXPECT_THAT(error_of<std::invalid_argument>([&] {
                runner->get_tensors_info(static_cast<TensorDirection>(7), TensorType::CPU);
              }),
              HasSubstr("7"));
  EXPECT_THAT(error_of<std::invalid_argument>([&] {
                runner->get_tensors_info(TensorDirection::INPUT, static_cast<TensorType>(6));
              }),
              HasSubstr("6"));
  EXPECT_THAT(error_of<std::runtime_error>(
                  [&] { runner->get_tensor_info_by_name("data", static_cast<TensorType>(6)); }),
              HasSubstr("6"));
}

// Only a model with a shape can be asked for memory, so a single number is a vector of one.
TEST_F(RunnerInfo, ATensorOfRankZeroIsAVectorOfOne) {
  graph::CompiledModel model;
  model.name = "scalar";
  const graph::ValueId in = model.graph.add_value({"x", tensor::DataType::kFloat32, {}, {}});
  const graph::ValueId out = test::tiny_unary(model.graph, "y", graph::UnaryKind::kAbs, in);
  model.graph.inputs = {in};
  model.graph.outputs = {out};
  model.partitions = {{graph::PartitionKind::kNpu, 0, 1}};
  model.inputs = {test::tiny_boundary(model.graph, in, {})};
  model.outputs = {test::tiny_boundary(model.graph, out, {})};
  const std::string path = directory_.file("scalar.rai");
  ASSERT_TRUE(model::write_archive(graph::encode(model), path, model::ArchiveForm::kFile).ok());
  use_device("cpu");
  const std::shared_ptr<Runner> runner = RunnerFactory::create_runner(RunnerType::VAIML, path);
  for (const TensorType type : {TensorType::CPU, TensorType::HW}) {
    const NpuTensorInfo& info = runner->get_tensor_info_by_name("x", type);
    EXPECT_THAT(info.shape, ElementsAre(1));
    EXPECT_THAT(info.strides, ElementsAre(1));
    EXPECT_THAT(info.memory_layout_order, ElementsAre(0));
    EXPECT_EQ(info.size, 1u);
    EXPECT_EQ(info.size_in_bytes, sizeof(float));
    Tensors in = inputs(*runner, 1, type), out = outputs(*runner, 1, type);
    *data<float>(in[0][0]) = -2.5f;
    EXPECT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
    EXPECT_EQ(*data<float>(out[0][0]), 2.5f);
  }
}

TEST_F(RunnerInfo, BothViewsAreThereWhateverTheOptionsSay) {
  const std::shared_ptr<Runner> runner = make_runner(
      {{"input_tensor_type", std::string("CPU")}, {"output_tensor_type", std::string("CPU")}});
  for (const TensorDirection direction : {TensorDirection::INPUT, TensorDirection::OUTPUT})
    for (const TensorType type : {TensorType::CPU, TensorType::HW})
      EXPECT_THAT(runner->get_tensors_info(direction, type), SizeIs(1));
}

TEST_F(RunnerInfo, AModelOnACpuPartitionHasNoHwView) {
  const std::string path = model({.hw_views = false});
  EXPECT_THAT(creation_error(RunnerType::VAIML, path), HasSubstr("no HW view"));
  EXPECT_THAT(creation_error(RunnerType::VAIML, path, {{"input_tensor_type", "CPU"}}),
              HasSubstr("output"));
  const std::shared_ptr<Runner> runner = RunnerFactory::create_runner(
      RunnerType::VAIML, path, {{"input_tensor_type", "CPU"}, {"output_tensor_type", "CPU"}});
  EXPECT_THAT(runner->get_tensors_info(TensorDirection::INPUT, TensorType::HW), IsEmpty());
  EXPECT_THAT(runner->get_tensors_info(TensorDirection::INPUT, TensorType::CPU), SizeIs(1));
  EXPECT_THAT(error_of<std::runtime_error>(
                  [&] { runner->get_tensor_info_by_name("data", TensorType::HW); }),
              AllOf(HasSubstr("no HW view"), HasSubstr("CPU partition")));
}

TEST_F(RunnerInfo, Properties) {
  const std::shared_ptr<Runner> runner = make_runner({}, {.batch_size = 2});
  EXPECT_EQ(std::any_cast<std::string>(runner->get_property("model_name")), "tiny");
  EXPECT_EQ(std::any_cast<size_t>(runner->get_property("batch_size_per_core")), 2u);
  EXPECT_EQ(std::any_cast<size_t>(runner->get_property("nb_systems")), 1u);
  EXPECT_GE(std::any_cast<size_t>(runner->get_property("nb_cores_per_system")), 1u);
  EXPECT_NO_THROW(std::any_cast<size_t>(runner->get_property("onnx_scratch_bytes")));
  const uint8_t banks = std::any_cast<uint8_t>(runner->get_property("nb_ddrs"));
  EXPECT_THAT(std::any_cast<std::vector<size_t>>(runner->get_property("ddr_free_bytes")),
              SizeIs(banks));
  EXPECT_EQ(std::any_cast<std::string>(runner->get_property("name")), "VAIML-Runner");
  EXPECT_EQ(std::any_cast<std::string>(runner->get_property("device")), "null");
  EXPECT_EQ(std::any_cast<std::string>(runner->get_property("precision")), "fp32");
}

TEST_F(RunnerInfo, TakesBothFormsOfAModelAndRefusesOthers) {
  const std::string form = directory_.file("form");
  ASSERT_TRUE(test::write_tiny_model(form, {}, model::ArchiveForm::kDirectory).ok());
  EXPECT_NE(RunnerFactory::create_runner(RunnerType::VAIML, form), nullptr);

  const std::string path = model();
  EXPECT_THAT(creation_error(RunnerType::VAIML, directory_.file("none.rai")),
              HasSubstr("none.rai"));
  EXPECT_THAT(creation_error(RunnerType::VAIML, directory_.path().string()),
              HasSubstr("vaiml_par_0"))
      << "a directory that only holds a .rai is the caller's to resolve";
  EXPECT_THAT(creation_error(static_cast<RunnerType>(7), path), HasSubstr("7"));
}

TEST_F(RunnerInfo, SaysWhenTheDeviceIsNotThere) {
  use_device("nosuch");
  EXPECT_THAT(creation_error(RunnerType::VAIML, model()), HasSubstr("nosuch"));
}

}  // namespace
}  // namespace millrace::vartml
