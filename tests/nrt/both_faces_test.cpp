// A program that uses both faces has one device and one budget of lanes.
#include <cstring>

#include "device/registry.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/library_threads.h"
#include "tests/support/temporary_directory.h"
#include "vart/vart_runner_factory.hpp"

namespace millrace::test {
namespace {

using Tensors = std::vector<std::vector<vart::NpuTensor>>;

// Uses the cpu device.
class BothFaces : public testing::Test {
 protected:
  BothFaces() {
    EXPECT_TRUE(write_tiny_model(path_).ok());
    EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  }
  ~BothFaces() override { nrt_close(); }

  // The results of the tiny model for the numbers, at either face.
  static std::vector<float> through_nrt(const std::vector<float>& numbers) {
    const std::vector<std::byte> bytes = tiny_archive();
    nrt_model_t* model = nullptr;
    EXPECT_EQ(nrt_load(bytes.data(), bytes.size(), 0, 1, &model), NRT_SUCCESS);
    const ScopedTensor input(kTinyInputBytes), output(kTinyOutputBytes);
    const ScopedSet inputs(kTinyInput, input.get()), outputs(kTinyOutput, output.get());
    EXPECT_EQ(nrt_tensor_write(input.get(), numbers.data(), 0, kTinyInputBytes), NRT_SUCCESS);
    EXPECT_EQ(nrt_execute(model, inputs.get(), outputs.get()), NRT_SUCCESS);
    std::vector<float> result(kTinyOutputBytes / sizeof(float));
    EXPECT_EQ(nrt_tensor_read(output.get(), result.data(), 0, kTinyOutputBytes), NRT_SUCCESS);
    EXPECT_EQ(nrt_unload(model), NRT_SUCCESS);
    return result;
  }
  static Tensors allocate(const vart::Runner& runner, vart::TensorDirection direction) {
    Tensors tensors(1);
    for (const vart::NpuTensorInfo& info :
         runner.get_tensors_info(direction, vart::TensorType::CPU))
      tensors[0].push_back(runner.allocate_npu_tensor(info));
    return tensors;
  }
  static std::vector<float> through_vart(vart::Runner& runner, const std::vector<float>& numbers) {
    Tensors inputs = allocate(runner, vart::TensorDirection::INPUT);
    Tensors outputs = allocate(runner, vart::TensorDirection::OUTPUT);
    std::memcpy(inputs[0][0].get_virtual_address(), numbers.data(), kTinyInputBytes);
    EXPECT_EQ(runner.execute(inputs, outputs), vart::StatusCode::SUCCESS);
    std::vector<float> result(kTinyOutputBytes / sizeof(float));
    std::memcpy(result.data(), outputs[0][0].get_virtual_address(), kTinyOutputBytes);
    return result;
  }

  const ScopedEnvironment environment_{"NEURON_RT_LOG_LEVEL", "QUIET"};
  const TemporaryDirectory directory_;
  const std::string path_ = directory_.file("tiny.rai");
};

TEST_F(BothFaces, HaveOneDeviceAndOneBudgetOfLanes) {
  const auto runner = vart::RunnerFactory::create_runner(
      vart::RunnerType::VAIML, path_,
      {{"input_tensor_type", std::string("CPU")}, {"output_tensor_type", std::string("CPU")}});
  const std::vector<float> numbers = tiny_numbers(kTinyInputBytes / sizeof(float), 3);
  EXPECT_EQ(through_nrt(numbers), tiny_reference(numbers));
  EXPECT_EQ(through_vart(*runner, numbers), tiny_reference(numbers));
  const uint32_t lanes = device::open_device_of_program().value()->lanes().count();
  await_library_threads(lanes, "millrace-lane");
}

TEST_F(BothFaces, MayRunAtTheSameTimeAndEndInAnyOrder) {
  auto runner = vart::RunnerFactory::create_runner(
      vart::RunnerType::VAIML, path_,
      {{"input_tensor_type", std::string("CPU")}, {"output_tensor_type", std::string("CPU")}});
  const std::vector<float> numbers = tiny_numbers(kTinyInputBytes / sizeof(float), 5);
  std::thread other([&] {
    for (int i = 0; i < 50; ++i) EXPECT_EQ(through_vart(*runner, numbers), tiny_reference(numbers));
  });
  for (int i = 0; i < 50; ++i) EXPECT_EQ(through_nrt(numbers), tiny_reference(numbers));
  other.join();
  nrt_close();
  EXPECT_EQ(through_vart(*runner, numbers), tiny_reference(numbers));
  ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  runner.reset();
  EXPECT_EQ(through_nrt(numbers), tiny_reference(numbers));
}

}  // namespace
}  // namespace millrace::test
