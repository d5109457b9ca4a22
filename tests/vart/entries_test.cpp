// Tests what implementations of this API most easily get wrong, one entry of the list at a time.
// entries.txt says which test stands for which entry; scripts/mutate-vart.sh makes each mistake on
// purpose and shows that its test notices.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <future>
#include <thread>

#include "tests/vart/face_fixture.h"

namespace millrace::vartml {
namespace {

using std::chrono::milliseconds;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr TensorType kViews[] = {TensorType::CPU, TensorType::HW};

class EasilyWrong : public RunnerTest {
 protected:
  static const NpuTensorInfo& input_info(const Runner& runner, TensorType type = TensorType::HW) {
    return runner.get_tensors_info(TensorDirection::INPUT, type)[0];
  }
};

class EasilyWrongAsync : public GatedRunnerTest {};

TEST_F(EasilyWrong, Entry02_ADescriptorIsDuplicatedNotKeptByPointer) {
  const std::shared_ptr<Runner> runner = make_runner();
  NpuTensor source = runner->allocate_npu_tensor(input_info(*runner));
  int fd = source.export_buffer();
  NpuTensor imported(input_info(*runner), &fd, MemoryType::DMA_FD);
  close(fd);
  fd = -1;
  EXPECT_NE(imported.get_buffer(), &fd);
  EXPECT_GE(fcntl(*static_cast<int*>(imported.get_buffer()), F_GETFD), 0);
  Tensors out = outputs(*runner);
  EXPECT_EQ(runner->execute({{imported}}, out), StatusCode::SUCCESS);
}

TEST_F(EasilyWrong, Entry03_TensorsOutliveTheirRunner) {
  std::shared_ptr<Runner> runner = make_runner();
  NpuTensor tensor = runner->allocate_npu_tensor(input_info(*runner));
  std::memset(tensor.get_virtual_address(), 42, tensor.get_info().size_in_bytes);
  runner.reset();
  const std::vector<uint8_t> bytes(data(tensor), data(tensor) + tensor.get_info().size_in_bytes);
  EXPECT_THAT(bytes, Each(42));
}

TEST_F(EasilyWrong, Entry04_TensorsOfTheCpuViewAreAllocatedWithAnAddress) {
  const std::shared_ptr<Runner> runner = make_runner();
  for (const TensorType type : kViews) {
    NpuTensor tensor = runner->allocate_npu_tensor(input_info(*runner, type));
    EXPECT_EQ(tensor.get_memory_type(), MemoryType::XRT_BO);
    ASSERT_NE(tensor.get_virtual_address(), nullptr);
    std::memset(tensor.get_virtual_address(), 1, tensor.get_info().size_in_bytes);
  }
}

TEST_F(EasilyWrong, Entry05_FloatTensorsHaveScaleOneAndZeroPointZero) {
  for (const graph::Precision precision : {graph::Precision::kFp32, graph::Precision::kBf16}) {
    const std::shared_ptr<Runner> runner = make_runner({}, {.precision = precision});
    for (const char* name : {"data", "probs"}) {
      EXPECT_EQ(runner->get_quant_parameters(name).scale, 1.0);
      EXPECT_EQ(runner->get_quant_parameters(name).zero_point, 0);
    }
  }
}

TEST_F(EasilyWrong, Entry06_PartialAndUnequalOuterSizesAreNoErrors) {
  const std::shared_ptr<Runner> runner = make_runner({}, {.batch_size = 4});
  for (size_t frames = 1; frames <= 4; ++frames)
    for (size_t held = frames; held <= 4; ++held) {
      Tensors out = outputs(*runner, held);
      EXPECT_EQ(runner->execute(inputs(*runner, frames), out), StatusCode::SUCCESS)
          << frames << " frames, " << held << " outputs";
    }
}

TEST_F(EasilyWrong, Entry06_DescriptionsAreOfOneFrame) {
  const std::shared_ptr<Runner> runner = make_runner({}, {.batch_size = 4});
  EXPECT_THAT(input_info(*runner, TensorType::CPU).shape, ElementsAre(1, 3, 4, 4));
  EXPECT_EQ(input_info(*runner, TensorType::CPU).size, 3u * 4 * 4);
  EXPECT_EQ(input_info(*runner, TensorType::CPU).size_in_bytes, 3u * 4 * 4 * 4);
  EXPECT_THAT(input_info(*runner).shape, ElementsAre(4, 1, 4, 1, 4));
  EXPECT_EQ(input_info(*runner).size, 4u * 4 * 4);
  EXPECT_EQ(input_info(*runner).size_in_bytes, 4u * 4 * 4 * 4);
}

TEST_F(EasilyWrongAsync, Entry07_SlotsAreFreeAtCompletionWithoutAWait) {
  const std::shared_ptr<Runner> runner = make_runner();
  const Tensors in = inputs(*runner);
  Tensors out = outputs(*runner);
  gate_->release();
  for (int i = 0; i < 20; ++i) {
    std::promise<void> called;
    const JobHandle job =
        runner->execute_async(in, out, [&](const JobHandle&) { called.set_value(); });
    ASSERT_EQ(job.status, StatusCode::SUCCESS) << "job " << i << ", none of them collected";
    called.get_future().get();
  }
}

TEST_F(EasilyWrongAsync, Entry07_AJobStaysCollectableAfterCompletionAndAfterJobPending) {
  const std::shared_ptr<Runner> runner = make_runner();
  const Tensors in = inputs(*runner);
  Tensors out = outputs(*runner);
  std::promise<void> called;
  const JobHandle job =
      runner->execute_async(in, out, [&](const JobHandle&) { called.set_value(); });
  EXPECT_EQ(runner->wait(job, milliseconds(0)), StatusCode::JOB_PENDING);
  EXPECT_EQ(runner->wait(job, milliseconds(1)), StatusCode::JOB_PENDING);
  EXPECT_EQ(runner->wait(job, milliseconds(1)), StatusCode::JOB_PENDING);
  gate_->release();
  called.get_future().get();
  EXPECT_EQ(runner->wait(job, kForever), StatusCode::SUCCESS);
}

TEST_F(EasilyWrongAsync, Entry08_TwoUnfinishedJobsAreFine) {
  const std::shared_ptr<Runner> runner = make_runner();
  const Tensors in = inputs(*runner);
  Tensors out = outputs(*runner);
  const JobHandle first = runner->execute_async(in, out), second = runner->execute_async(in, out);
  EXPECT_EQ(first.status, StatusCode::SUCCESS);
  EXPECT_EQ(second.status, StatusCode::SUCCESS);
  gate_->release();
  EXPECT_EQ(runner->wait(first, kForever), StatusCode::SUCCESS);
  EXPECT_EQ(runner->wait(second, kForever), StatusCode::SUCCESS);
}

// Ten channels in blocks of eight: the block comes before the column, its padding is zero.
TEST_F(EasilyWrong, Entry09_BlocksPrecedeColumnsAndPaddingIsZero) {
  use_device("cpu");
  const std::shared_ptr<Runner> runner = make_runner();
  const std::vector<float> x = test::tiny_numbers(3 * 4 * 4, 3);
  Tensors in = inputs(*runner, 1, TensorType::CPU), out = outputs(*runner);
  std::memcpy(data(in[0][0]), x.data(), x.size() * sizeof(float));
  std::memset(data(out[0][0]), 0x77, out[0][0].get_info().size_in_bytes);
  ASSERT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
  const std::vector<float> expected = blocked(test::tiny_reference(x), 8);
  const float* written = data<float>(out[0][0]);
  EXPECT_EQ(std::vector<float>(written, written + expected.size()), expected);
}

// The values are spelled out: a shape function that shares the mistake would hide it.
TEST_F(EasilyWrong, Entry09_AnImageOfThreeChannelsIsOfFourInTurn) {
  use_device("cpu");
  const std::shared_ptr<Runner> runner = make_runner();
  Tensors cpu = inputs(*runner, 1, TensorType::CPU), hw = inputs(*runner);
  for (size_t c = 0; c < 3; ++c)
    for (size_t at = 0; at < 16; ++at) {
      const float value = static_cast<float>(c) - static_cast<float>(at) / 16;
      data<float>(cpu[0][0])[c * 16 + at] = value;
      data<float>(hw[0][0])[at * 4 + c] = value;
      data<float>(hw[0][0])[at * 4 + 3] = 1e9f;  // padding of an input is not looked at
    }
  Tensors from_cpu = outputs(*runner), from_hw = outputs(*runner);
  ASSERT_EQ(runner->execute(cpu, from_cpu), StatusCode::SUCCESS);
  ASSERT_EQ(runner->execute(hw, from_hw), StatusCode::SUCCESS);
  EXPECT_EQ(std::memcmp(data(from_cpu[0][0]), data(from_hw[0][0]),
                        from_hw[0][0].get_info().size_in_bytes),
            0);
}

TEST_F(EasilyWrong, Entry11_BothViewsAreThereWhateverTheOptionsSay) {
  for (const char* input : {"CPU", "HW"})
    for (const char* output : {"CPU", "HW"}) {
      const std::shared_ptr<Runner> runner = make_runner(
          {{"input_tensor_type", std::string(input)}, {"output_tensor_type", std::string(output)}});
      for (const TensorDirection direction : {TensorDirection::INPUT, TensorDirection::OUTPUT})
        for (const TensorType type : kViews)
          EXPECT_THAT(runner->get_tensors_info(direction, type), SizeIs(1));
    }
}

TEST_F(EasilyWrong, Entry18_UnknownOptionsAndOtherIntegersAreTaken) {
  const std::string path = model();
  const std::vector<std::any> threes = {3,           3u, int8_t{3}, uint8_t{3}, int16_t{3},
                                        uint16_t{3}, 3L, 3UL,       3LL,        3ULL};
  for (const std::any& three : threes)
    for (const char* key : {"max_concurrent_runs", "cma_index", "async_threadpool_depth"})
      EXPECT_NO_THROW(RunnerFactory::create_runner(RunnerType::VAIML, path, {{key, three}})) << key;
  const Options others = {{"ai_analyzer_visualization", true},
                          {"nb_threads", size_t{4}},
                          {"in_shape_format", std::string("NCHW")},
                          {"output_names", std::vector<std::string>{"probs"}},
                          {"output_tensor_type", static_cast<const char*>("CPU")},
                          {"debug", 0}};
  EXPECT_NO_THROW(RunnerFactory::create_runner(RunnerType::VAIML, path, others));
}

TEST_F(EasilyWrong, Entry22_SyncingAnAllocatedTensorIsHarmless) {
  for (const bool skip : {false, true}) {
    const std::shared_ptr<Runner> runner =
        make_runner({{"skip_in_bo_sync", skip}, {"skip_out_bo_sync", skip}});
    for (const TensorDirection direction : {TensorDirection::INPUT, TensorDirection::OUTPUT})
      for (const TensorType type : kViews) {
        NpuTensor tensor = allocate(*runner, direction, type)[0][0];
        data(tensor)[0] = 9;
        EXPECT_NO_THROW(tensor.sync_buffer());
        EXPECT_EQ(data(tensor)[0], 9);
      }
  }
}

}  // namespace
}  // namespace millrace::vartml
