// execute: what it accepts, and what it computes, on every device.
#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <fstream>
#include <thread>

#include "tests/support/late_calls.h"
#include "tests/vart/runner_fixture.h"
#include "vart/tensors/tensor_state.h"

namespace millrace::vartml {
namespace {

class ExecuteTest : public RunnerTest {
 protected:
  static StatusCode execute(Runner& runner, const Tensors& inputs, Tensors outputs) {
    const StatusCode executed = runner.execute(inputs, outputs);
    // Arguments that are wrong for one call are wrong for the other.
    const JobHandle job = runner.execute_async(inputs, outputs);
    EXPECT_EQ(job.status, executed);
    EXPECT_EQ(job.job_id == 0, executed != StatusCode::SUCCESS);
    if (job.job_id != 0) {
      EXPECT_EQ(runner.wait(job, kForever), StatusCode::SUCCESS);
    }
    return executed;
  }
};

TEST_F(ExecuteTest, TakesAnyNumberOfFramesUpToTheBatchSize) {
  const std::shared_ptr<Runner> runner = make_runner({}, {.batch_size = 3});
  for (size_t frames = 1; frames <= 3; ++frames)
    EXPECT_EQ(execute(*runner, inputs(*runner, frames), outputs(*runner, frames)),
              StatusCode::SUCCESS)
        << frames;
  EXPECT_EQ(execute(*runner, inputs(*runner, 1), outputs(*runner, 3)), StatusCode::SUCCESS)
      << "further outputs are left alone";
  EXPECT_EQ(execute(*runner, {}, outputs(*runner, 3)), StatusCode::INVALID_INPUT);
  EXPECT_EQ(execute(*runner, inputs(*runner, 4), outputs(*runner, 4)), StatusCode::INVALID_INPUT);
  EXPECT_EQ(execute(*runner, inputs(*runner, 2), outputs(*runner, 1)), StatusCode::INVALID_OUTPUT);
  EXPECT_EQ(execute(*runner, inputs(*runner, 2), {}), StatusCode::INVALID_OUTPUT);
  EXPECT_EQ(execute(*runner, inputs(*runner, 2), outputs(*runner, 4)), StatusCode::INVALID_OUTPUT);
}

TEST_F(ExecuteTest, WorksInDestructorsAtTheEndOfAThread) {
  const std::shared_ptr<Runner> runner = make_runner();
  const Tensors in = inputs(*runner), out = outputs(*runner);
  int succeeded = 0;
  test::call_until_thread_ends(
      [&] { succeeded += execute(*runner, in, out) == StatusCode::SUCCESS; });
  EXPECT_EQ(succeeded, 3);
}

TEST_F(ExecuteTest, FramesBeyondTheInputsAreNotLookedAt) {
  const std::shared_ptr<Runner> runner = make_runner({}, {.batch_size = 3});
  Tensors partial = outputs(*runner, 1);
  partial.resize(3);
  EXPECT_EQ(execute(*runner, inputs(*runner, 1), partial), StatusCode::SUCCESS);
}

TEST_F(ExecuteTest, RefusesWrongCountsOfTensors) {
  const std::shared_ptr<Runner> runner = make_runner();
  const Tensors in = inputs(*runner), out = outputs(*runner);
  EXPECT_EQ(execute(*runner, {{}}, out), StatusCode::INVALID_INPUT);
  EXPECT_EQ(execute(*runner, {{in[0][0], in[0][0]}}, out), StatusCode::INVALID_INPUT);
  EXPECT_EQ(execute(*runner, in, {{}}), StatusCode::INVALID_OUTPUT);
  EXPECT_EQ(execute(*runner, in, {{out[0][0], out[0][0]}}), StatusCode::INVALID_OUTPUT);
}

TEST_F(ExecuteTest, RefusesTensorsThatDoNotFit) {
  const std::shared_ptr<Runner> runner = make_runner();
  const Tensors in = inputs(*runner), out = outputs(*runner);
  EXPECT_EQ(execute(*runner, {{NpuTensor()}}, out), StatusCode::INVALID_INPUT);
  EXPECT_EQ(execute(*runner, in, {{NpuTensor()}}), StatusCode::INVALID_OUTPUT);

  const auto shrunk = [&](TensorDirection direction) {
    NpuTensorInfo info = runner->get_tensors_info(direction, TensorType::HW)[0];
    --info.size_in_bytes;
    return Tensors{{runner->allocate_npu_tensor(info)}};
  };
  EXPECT_EQ(execute(*runner, shrunk(TensorDirection::INPUT), out), StatusCode::INVALID_INPUT);
  EXPECT_EQ(execute(*runner, in, shrunk(TensorDirection::OUTPUT)), StatusCode::INVALID_OUTPUT);
}

TEST_F(ExecuteTest, RefusesMemoryThatIsMisalignedOrReadOnly) {
  const std::shared_ptr<Runner> runner = make_runner();
  const Tensors in = inputs(*runner), out = outputs(*runner);
  const NpuTensorInfo& info = out[0][0].get_info();
  std::vector<char> memory(info.size_in_bytes + 64);
  const NpuTensor odd(info, memory.data() + 1, MemoryType::USER_POINTER_CMA);
  EXPECT_EQ(execute(*runner, in, {{odd}}), StatusCode::INVALID_OUTPUT);
  const void* constant = memory.data();
  const NpuTensor read_only(info, constant, MemoryType::USER_POINTER_CMA);
  EXPECT_EQ(execute(*runner, in, {{read_only}}), StatusCode::INVALID_OUTPUT);
  const NpuTensor input(in[0][0].get_info(), constant, MemoryType::USER_POINTER_CMA);
  EXPECT_EQ(execute(*runner, {{input}}, out), StatusCode::SUCCESS);
}

TEST_F(ExecuteTest, ARefusedCallKeepsNoTensor) {
  const std::shared_ptr<Runner> runner = make_runner();
  Tensors in = inputs(*runner);
  const std::weak_ptr<const void> kept = ::vart::TensorState::of(in[0][0]);
  EXPECT_EQ(execute(*runner, in, {{NpuTensor()}}), StatusCode::INVALID_OUTPUT);
  in.clear();
  EXPECT_TRUE(kept.expired());
}

TEST_F(ExecuteTest, RefusesAViewTheModelDoesNotHave) {
  const std::shared_ptr<Runner> with_views = make_runner();
  const std::shared_ptr<Runner> runner = make_runner(
      {{"input_tensor_type", "CPU"}, {"output_tensor_type", "CPU"}}, {.hw_views = false});
  const Tensors in = inputs(*runner, 1, TensorType::CPU);
  const Tensors out = outputs(*runner, 1, TensorType::CPU);
  EXPECT_EQ(execute(*runner, in, out), StatusCode::SUCCESS);
  EXPECT_EQ(execute(*runner, inputs(*with_views), out), StatusCode::INVALID_INPUT);
  EXPECT_EQ(execute(*runner, in, outputs(*with_views)), StatusCode::INVALID_OUTPUT);
}

TEST_F(ExecuteTest, UnfitForTheDeviceIsARuntimeErrorNotACrash) {
  const std::string path = model();
  std::ofstream(path, std::ios::binary) << "no archive";
  EXPECT_THROW(RunnerFactory::create_runner(RunnerType::VAIML, path), std::runtime_error);
}

// Uses a device that computes: checks the numbers, for every kind of memory and view.
class ExecuteOnCpu : public RunnerTest {
 protected:
  void SetUp() override {
    use_device("cpu");
    runner_ = make_runner();
    x_ = test::tiny_numbers(3 * 4 * 4, 3);
    y_ = test::tiny_reference(x_);
  }

  const NpuTensorInfo& info(TensorDirection direction, TensorType type) const {
    return runner_->get_tensors_info(direction, type)[0];
  }
  // x_ in HCWNC4.
  std::vector<float> blocked_input() const {
    std::vector<float> blocked(4 * 4 * 4);
    for (size_t c = 0; c < 3; ++c)
      for (size_t at = 0; at < 16; ++at) blocked[at * 4 + c] = x_[c * 16 + at];
    return blocked;
  }
  // y_ in HCWNC8, with zero in the padding lanes.
  std::vector<float> blocked_output() const {
    std::vector<float> blocked(4 * 2 * 4 * 8);
    for (size_t c = 0; c < 10; ++c)
      for (size_t h = 0; h < 4; ++h)
        for (size_t w = 0; w < 4; ++w)
          blocked[((h * 2 + c / 8) * 4 + w) * 8 + c % 8] = y_[c * 16 + h * 4 + w];
    return blocked;
  }
  template <class T>
  static std::vector<float> floats(const T* data, size_t count) {
    return {data, data + count};
  }

  std::shared_ptr<Runner> runner_;
  std::vector<float> x_, y_;
};

TEST_F(ExecuteOnCpu, CpuViewsHoldTheModelsOwnTensors) {
  Tensors in = inputs(*runner_, 1, TensorType::CPU), out = outputs(*runner_, 1, TensorType::CPU);
  std::copy(x_.begin(), x_.end(), data<float>(in[0][0]));
  ASSERT_EQ(runner_->execute(in, out), StatusCode::SUCCESS);
  EXPECT_EQ(floats(data<float>(out[0][0]), y_.size()), y_);
}

TEST_F(ExecuteOnCpu, HwViewsHoldTheSameInTheDevicesLayout) {
  Tensors in = inputs(*runner_), out = outputs(*runner_);
  const std::vector<float> x = blocked_input();
  std::copy(x.begin(), x.end(), data<float>(in[0][0]));
  ASSERT_EQ(runner_->execute(in, out), StatusCode::SUCCESS);
  EXPECT_EQ(floats(data<float>(out[0][0]), 256), blocked_output());
}

TEST_F(ExecuteOnCpu, TensorsAreTakenByTheirOwnViewWhateverTheOptionsSay) {
  const std::shared_ptr<Runner> runner =
      make_runner({{"input_tensor_type", "HW"}, {"output_tensor_type", "CPU"}});
  Tensors in = inputs(*runner, 1, TensorType::CPU), out = outputs(*runner, 1, TensorType::HW);
  std::copy(x_.begin(), x_.end(), data<float>(in[0][0]));
  ASSERT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
  EXPECT_EQ(floats(data<float>(out[0][0]), 256), blocked_output());
}

TEST_F(ExecuteOnCpu, EveryKindOfMemoryWorks) {
  std::vector<float> x = blocked_input(), y(256);
  const NpuTensorInfo& in_info = info(TensorDirection::INPUT, TensorType::HW);
  const NpuTensorInfo& out_info = info(TensorDirection::OUTPUT, TensorType::HW);

  NpuTensor user_in(in_info, x.data(), MemoryType::USER_POINTER_CMA);
  Tensors user_out{{NpuTensor(out_info, y.data(), MemoryType::USER_POINTER_CMA)}};
  ASSERT_EQ(runner_->execute({{user_in}}, user_out), StatusCode::SUCCESS);
  EXPECT_EQ(y, blocked_output());

  NpuTensor shared_in = runner_->allocate_npu_tensor(in_info);
  NpuTensor shared_out = runner_->allocate_npu_tensor(out_info);
  std::memcpy(shared_in.get_virtual_address(), x.data(), in_info.size_in_bytes);
  int in_fd = shared_in.export_buffer(), out_fd = shared_out.export_buffer();
  NpuTensor fd_in(in_info, &in_fd, MemoryType::DMA_FD);
  Tensors fd_out{{NpuTensor(out_info, &out_fd, MemoryType::DMA_FD)}};
  close(in_fd);
  close(out_fd);
  ASSERT_EQ(runner_->execute({{fd_in}}, fd_out), StatusCode::SUCCESS);
  EXPECT_EQ(floats(data<float>(shared_out), 256), blocked_output());

  NpuTensorInfo pair = out_info;
  pair.size_in_bytes *= 2;
  NpuTensor parent = runner_->allocate_npu_tensor(pair);
  Tensors sub_out{{runner_->allocate_sub_tensor(parent, out_info, out_info.size_in_bytes)}};
  ASSERT_EQ(runner_->execute({{user_in}}, sub_out), StatusCode::SUCCESS);
  EXPECT_EQ(floats(data<float>(parent) + 256, 256), blocked_output());
  EXPECT_EQ(floats(data<float>(parent), 256), std::vector<float>(256)) << "outside of the slice";
}

TEST_F(ExecuteOnCpu, AJobGivesTheSameBitsAsExecute) {
  Tensors in = inputs(*runner_), out = outputs(*runner_);
  const std::vector<float> x = blocked_input();
  std::copy(x.begin(), x.end(), data<float>(in[0][0]));
  const JobHandle job = runner_->execute_async(in, out);
  ASSERT_EQ(job.status, StatusCode::SUCCESS);
  ASSERT_EQ(runner_->wait(job, kForever), StatusCode::SUCCESS);
  EXPECT_EQ(floats(data<float>(out[0][0]), 256), blocked_output());
}

TEST_F(ExecuteOnCpu, TwoJobsInFlightGiveTheBitsOfOneAfterAnother) {
  std::array<Tensors, 2> in, expected, out;
  for (size_t job = 0; job < 2; ++job) {
    in[job] = inputs(*runner_);
    expected[job] = outputs(*runner_);
    const std::vector<float> x = test::tiny_numbers(4 * 4 * 4, static_cast<int>(job));
    std::copy(x.begin(), x.end(), data<float>(in[job][0][0]));
    ASSERT_EQ(runner_->execute(in[job], expected[job]), StatusCode::SUCCESS);
  }
  for (int round = 0; round < 100; ++round) {
    std::array<JobHandle, 2> jobs;
    for (size_t job = 0; job < 2; ++job) {
      out[job] = outputs(*runner_);
      jobs[job] = runner_->execute_async(in[job], out[job]);
    }
    for (size_t job = 0; job < 2; ++job) {
      ASSERT_EQ(runner_->wait(jobs[job], kForever), StatusCode::SUCCESS);
      ASSERT_EQ(floats(data<float>(out[job][0][0]), 256),
                floats(data<float>(expected[job][0][0]), 256));
    }
  }
}

TEST_F(ExecuteOnCpu, ManyThreadsShareARunner) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      Tensors in = inputs(*runner_, 1, TensorType::CPU);
      std::copy(x_.begin(), x_.end(), data<float>(in[0][0]));
      for (int round = 0; round < 50; ++round) {
        Tensors out = outputs(*runner_, 1, TensorType::CPU);
        ASSERT_EQ(runner_->execute(in, out), StatusCode::SUCCESS);
        ASSERT_EQ(floats(data<float>(out[0][0]), y_.size()), y_);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ExecuteOnCpu, UnusedFramesAreNotWritten) {
  runner_ = make_runner({}, {.batch_size = 2});
  Tensors in = inputs(*runner_, 1, TensorType::CPU), out = outputs(*runner_, 2, TensorType::CPU);
  std::copy(x_.begin(), x_.end(), data<float>(in[0][0]));
  ASSERT_EQ(runner_->execute(in, out), StatusCode::SUCCESS);
  EXPECT_EQ(floats(data<float>(out[0][0]), y_.size()), y_);
  EXPECT_EQ(floats(data<float>(out[1][0]), y_.size()), std::vector<float>(y_.size()));
}

}  // namespace
}  // namespace millrace::vartml
