// Tests the errors that a client sees: exceptions where objects are made, codes where
// jobs run, and a runner that goes on in every case.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <exception>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/unique_fd.h"
#include "device/faulty/faulty_device.h"
#include "tests/vart/face_fixture.h"

namespace millrace::vartml {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

class FaceErrors : public FaceTest {
 protected:
  // The code of a call that is refused, the same through every way in.
  static StatusCode refusal(Runner& runner, const Tensors& inputs, Tensors outputs) {
    const StatusCode executed = runner.execute(inputs, outputs);
    const auto never = [](const JobHandle&) { ADD_FAILURE() << "a refused job has no callback"; };
    const auto never_with_data = [](const JobHandle&, void*) { ADD_FAILURE(); };
    for (const JobHandle& job :
         {runner.execute_async(inputs, outputs), runner.execute_async(inputs, outputs, never),
          runner.execute_async(inputs, outputs, never_with_data, nullptr)}) {
      EXPECT_EQ(job.status, executed);
      EXPECT_EQ(job.job_id, 0u);
    }
    return executed;
  }
  static void expect_service(Runner& runner) {
    Tensors out = untouched_outputs(runner, 1);
    EXPECT_EQ(runner.execute(numbered_inputs(runner, 1), out), StatusCode::SUCCESS);
    expect_results(out, 1);
  }
};

TEST_P(FaceErrors, WrongOuterSizes) {
  const std::shared_ptr<Runner> runner = make_face(2);
  const auto in = [&](size_t frames) { return numbered_inputs(*runner, frames); };
  const auto out = [&](size_t frames) { return untouched_outputs(*runner, frames); };
  EXPECT_EQ(refusal(*runner, {}, out(1)), StatusCode::INVALID_INPUT);
  EXPECT_EQ(refusal(*runner, {}, {}), StatusCode::INVALID_INPUT);
  EXPECT_EQ(refusal(*runner, in(3), out(3)), StatusCode::INVALID_INPUT);
  EXPECT_EQ(refusal(*runner, in(1), out(3)), StatusCode::INVALID_OUTPUT);
  EXPECT_EQ(refusal(*runner, in(2), out(1)), StatusCode::INVALID_OUTPUT);
  EXPECT_EQ(refusal(*runner, in(1), {}), StatusCode::INVALID_OUTPUT);
  EXPECT_EQ(refusal(*runner, Tensors(100'000), Tensors(100'000)), StatusCode::INVALID_INPUT);
  expect_service(*runner);
}

TEST_P(FaceErrors, WrongInnerCountsInAnyFrame) {
  const std::shared_ptr<Runner> runner = make_face(2);
  for (const size_t frame : {0u, 1u})
    for (const size_t count : {0u, 2u}) {
      Tensors in = numbered_inputs(*runner, 2), out = untouched_outputs(*runner, 2);
      in[frame].resize(count, in[frame][0]);
      EXPECT_EQ(refusal(*runner, in, out), StatusCode::INVALID_INPUT);
      in = numbered_inputs(*runner, 2);
      out[frame].resize(count, out[frame][0]);
      EXPECT_EQ(refusal(*runner, in, out), StatusCode::INVALID_OUTPUT);
    }
  expect_service(*runner);
}

TEST_P(FaceErrors, EmptyAndSmallTensorsInAnyFrame) {
  const std::shared_ptr<Runner> runner = make_face(2);
  const auto unfit = [&](const NpuTensor& like) {
    NpuTensorInfo info = like.get_info();
    info.size_in_bytes = 1;
    return std::vector<NpuTensor>{NpuTensor(), runner->allocate_npu_tensor(info)};
  };
  for (const size_t frame : {0u, 1u}) {
    const Tensors in = numbered_inputs(*runner, 2), out = untouched_outputs(*runner, 2);
    for (const NpuTensor& tensor : unfit(in[0][0])) {
      Tensors wrong = in;
      wrong[frame] = {tensor};
      EXPECT_EQ(refusal(*runner, wrong, out), StatusCode::INVALID_INPUT);
    }
    for (const NpuTensor& tensor : unfit(out[0][0])) {
      Tensors wrong = out;
      wrong[frame] = {tensor};
      EXPECT_EQ(refusal(*runner, in, wrong), StatusCode::INVALID_OUTPUT);
    }
  }
  expect_service(*runner);
}

TEST_P(FaceErrors, MisalignedTensors) {
  const std::shared_ptr<Runner> runner = make_face();
  const Tensors in = numbered_inputs(*runner, 1), out = untouched_outputs(*runner, 1);
  const auto shifted = [&](const NpuTensor& like) {
    NpuTensorInfo larger = like.get_info();
    larger.size_in_bytes += 64;
    const NpuTensor parent = runner->allocate_npu_tensor(larger);
    return Tensors{{runner->allocate_sub_tensor(parent, like.get_info(), 1)}};
  };
  EXPECT_EQ(refusal(*runner, shifted(in[0][0]), out), StatusCode::INVALID_INPUT);
  EXPECT_EQ(refusal(*runner, in, shifted(out[0][0])), StatusCode::INVALID_OUTPUT);
  expect_service(*runner);
}

TEST_P(FaceErrors, OutputsThatCannotBeWritten) {
  const std::shared_ptr<Runner> runner = make_face();
  const Tensors in = numbered_inputs(*runner, 1);
  const NpuTensorInfo info = untouched_outputs(*runner, 1)[0][0].get_info();
  NpuTensor source = runner->allocate_npu_tensor(info);

  const void* constant = source.get_buffer();
  EXPECT_EQ(refusal(*runner, in, {{NpuTensor(info, constant, MemoryType::XRT_BO)}}),
            StatusCode::INVALID_OUTPUT);

  const UniqueFd file(source.export_buffer());
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  const UniqueFd read_only(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  int fd = read_only.get();
  EXPECT_EQ(refusal(*runner, in, {{NpuTensor(info, &fd, MemoryType::DMA_FD)}}),
            StatusCode::INVALID_OUTPUT);
  expect_service(*runner);
}

// Only what a tensor says about its size and view decides, and its memory is never left.
TEST_P(FaceErrors, DescriptionsThatMakeNoSenseDoNoHarm) {
  const std::shared_ptr<Runner> runner = make_face();
  const Tensors in = numbered_inputs(*runner, 1);
  Tensors out = untouched_outputs(*runner, 1);
  NpuTensorInfo odd = in[0][0].get_info();
  odd.name = "another model's";
  odd.direction = TensorDirection::OUTPUT;
  odd.data_type = ::vart::DataType::UINT64;
  odd.memory_layout = static_cast<::vart::MemoryLayout>(1000);
  odd.shape.assign(50, 7);
  odd.strides = {0};
  odd.size = ~size_t{0};
  EXPECT_EQ(runner->execute({{runner->allocate_npu_tensor(odd)}}, out), StatusCode::SUCCESS);
  odd.tensor_type = static_cast<TensorType>(77);
  const StatusCode code = runner->execute({{runner->allocate_npu_tensor(odd)}}, out);
  EXPECT_TRUE(code == StatusCode::SUCCESS || code == StatusCode::INVALID_INPUT);
  expect_service(*runner);
}

INSTANTIATE_TEST_SUITE_P(Faces, FaceErrors, ::testing::ValuesIn(every_face()),
                         [](const auto& face) { return name_of(face.param); });

class FaultyFace : public FaceTest {
 protected:
  void SetUp() override {
    const std::string name = "faulty-" + GetParam().device;
    use_device(name);
    device_ = device::open_device(name).value();
    faults_ = device::faults_of(*device_);
    runner_ = make_face(2, {{"max_concurrent_runs", 2u}});
    in_ = numbered_inputs(*runner_, 2);
    out_ = untouched_outputs(*runner_, 2);
  }
  void TearDown() override { faults_->heal(); }

  void expect_service() {
    Tensors out = untouched_outputs(*runner_, 2);
    EXPECT_EQ(runner_->execute(in_, out), StatusCode::SUCCESS);
    expect_results(out, 2);
  }

  std::shared_ptr<device::Device> device_;  // kept, so that the runner gets the same one
  std::shared_ptr<device::FaultPlan> faults_;
  std::shared_ptr<Runner> runner_;
  Tensors in_, out_;
};

TEST_P(FaultyFace, AFailureIsARuntimeErrorOfOneCallAndTheRunnerGoesOn) {
  for (const uint16_t frame : {0, 1}) {
    faults_->fail_nth(1, device::injected_failure(), frame);
    EXPECT_EQ(runner_->execute(in_, out_), StatusCode::RUNTIME_ERROR);
    expect_service();
    faults_->fail_nth(1, device::injected_failure(), frame);
    const JobHandle job = runner_->execute_async(in_, out_);
    EXPECT_EQ(job.status, StatusCode::SUCCESS) << "accepted: it fails later";
    EXPECT_EQ(runner_->wait(job, kForever), StatusCode::RUNTIME_ERROR);
    EXPECT_EQ(runner_->wait(job, kForever), StatusCode::INVALID_JOB_ID);
    expect_service();
  }
}

TEST_P(FaultyFace, ACallbackGetsTheFailure) {
  faults_->fail_all();
  std::promise<StatusCode> called;
  const JobHandle job = runner_->execute_async(
      in_, out_, [&](const JobHandle& done) { called.set_value(done.status); });
  EXPECT_EQ(called.get_future().get(), StatusCode::RUNTIME_ERROR);
  EXPECT_EQ(runner_->wait(job, kForever), StatusCode::RUNTIME_ERROR);
  faults_->heal();
  expect_service();
}

TEST_P(FaultyFace, FailuresTakeNoSlots) {
  faults_->fail_all();
  for (int i = 0; i < 20; ++i) {
    const JobHandle job = runner_->execute_async(in_, out_);
    ASSERT_EQ(job.status, StatusCode::SUCCESS);
    EXPECT_EQ(runner_->wait(job, kForever), StatusCode::RUNTIME_ERROR);
  }
  faults_->heal();
  expect_service();
}

INSTANTIATE_TEST_SUITE_P(Faces, FaultyFace, ::testing::ValuesIn(every_face()),
                         [](const auto& face) { return name_of(face.param); });

// Clients catch std::exception, print what() and go on.
TEST(FaceExceptions, AllAreStandardOnesWithSomethingToRead) {
  setenv("MILLRACE_DEVICE", "null", 1);
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("tiny.rai");
  ASSERT_TRUE(test::write_tiny_model(path).ok());
  const auto create = [](const std::string& model, const Options& options = {}) {
    return RunnerFactory::create_runner(RunnerType::VAIML, model, options);
  };
  const std::shared_ptr<Runner> runner = create(path);
  const NpuTensorInfo info = runner->get_tensors_info(TensorDirection::INPUT, TensorType::HW)[0];
  const std::function<void()> calls[] = {
      [&] { create(""); },
      [&] { create(directory.file("none.rai")); },
      [&] { create(directory.path().string()); },
      [&] {
        create(path, {{"input_tensor_type", 5}});
      },
      [&] { runner->get_tensor_info_by_name("", TensorType::CPU); },
      [&] { runner->get_quant_parameters(""); },
      [&] { runner->get_property(""); },
      [&] { runner->allocate_npu_tensor({}); },
      [&] { runner->allocate_npu_tensor(info, ~0u); },
      [&] { runner->allocate_sub_tensor({}, info, 0); },
      [&] { NpuTensor(info, static_cast<void*>(nullptr), MemoryType::XRT_BO); },
      [&] { NpuTensor().sync_buffer(); },
  };
  for (const std::function<void()>& call : calls) {
    std::string said;
    try {
      call();
      ADD_FAILURE() << "call " << &call - calls << " did not throw";
    } catch (const std::exception& error) {
      said = error.what();
    }
    EXPECT_THAT(said, Not(IsEmpty())) << "call " << &call - calls;
  }
  unsetenv("MILLRACE_DEVICE");
}

}  // namespace
}  // namespace millrace::vartml
