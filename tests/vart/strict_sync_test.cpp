// skip_in_bo_sync and skip_out_bo_sync under MILLRACE_STRICT_SYNC: a missing sync_buffer gives what
// incoherent hardware would give, and is reported.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>

#include "device/faulty/faulty_device.h"
#include "tests/support/log_capture.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Options kSkipIn = {{"skip_in_bo_sync", true}, {"name", std::string("mine")}};
const Options kSkipOut = {{"skip_out_bo_sync", true}, {"name", std::string("mine")}};
const Options kSkipBoth = {{"skip_in_bo_sync", true}, {"skip_out_bo_sync", true}};

class StrictSync : public RunnerTest {
 protected:
  StrictSync() { setenv("MILLRACE_STRICT_SYNC", "1", 1); }
  ~StrictSync() override { unsetenv("MILLRACE_STRICT_SYNC"); }

  void make(const Options& options) {
    runner_ = make_runner(options);
    in_ = inputs(*runner_);
    out_ = outputs(*runner_);
  }
  NpuTensor& in() { return in_[0][0]; }
  NpuTensor& out() { return out_[0][0]; }

  std::shared_ptr<Runner> runner_;
  Tensors in_, out_;
  test::LogCapture log_{LogLevel::kWarning};
};

// On the pattern device, every byte of the output is the first byte of the input plus one.
class StrictSyncPattern : public StrictSync {
 protected:
  StrictSyncPattern() {
    setenv("MILLRACE_PLUGIN_DIR", MILLRACE_TEST_PLUGIN_DIR, 1);
    use_device("pattern");
  }

  void run() { EXPECT_EQ(runner_->execute(in_, out_), StatusCode::SUCCESS); }
  // The byte that fills the output as the host sees it; -1 when it is not one.
  static int pattern_of(NpuTensor& tensor) {
    const uint8_t* bytes = data(tensor);
    for (size_t i = 1; i < tensor.get_info().size_in_bytes; ++i)
      if (bytes[i] != bytes[0]) return -1;
    return bytes[0];
  }
};

TEST_F(StrictSyncPattern, ARunnerThatSkipsNothingWorksAsEver) {
  make({});
  for (const uint8_t value : {5, 9, 9, 0}) {
    data(in())[0] = value;
    run();
    EXPECT_EQ(pattern_of(out()), value + 1);
    const JobHandle job = runner_->execute_async(in_, out_);
    ASSERT_EQ(runner_->wait(job, kForever), StatusCode::SUCCESS);
    EXPECT_EQ(pattern_of(out()), value + 1);
  }
  EXPECT_THAT(log_.lines(), IsEmpty());
}

TEST_F(StrictSyncPattern, SyncBufferIsHarmlessWhereNothingIsSkipped) {
  make({});
  out().sync_buffer();
  data(in())[0] = 5;
  in().sync_buffer();
  in().sync_buffer();
  run();
  out().sync_buffer();
  EXPECT_EQ(pattern_of(out()), 6);
  data(out())[0] = 77;  // the host works on its result
  out().sync_buffer();
  EXPECT_EQ(data(out())[0], 77);
  EXPECT_THAT(log_.lines(), IsEmpty());
}

TEST_F(StrictSyncPattern, WithoutTheSyncOfAnInputTheJobReadsWhatWasThere) {
  make(kSkipIn);
  data(in())[0] = 5;
  run();
  EXPECT_EQ(pattern_of(out()), 1) << "the zeros that the memory was made with";
  EXPECT_THAT(log_.lines(), ElementsAre(AllOf(HasSubstr("input \"data\""), HasSubstr("\"mine\""),
                                              HasSubstr("sync_buffer"))));
  in().sync_buffer();
  run();
  EXPECT_EQ(pattern_of(out()), 6);
  data(in())[0] = 8;
  run();
  EXPECT_EQ(pattern_of(out()), 6) << "the synced input of before";
}

TEST_F(StrictSyncPattern, WithoutTheSyncOfAnOutputTheHostSeesWhatWasThere) {
  make(kSkipOut);
  data(in())[0] = 5;
  run();
  EXPECT_EQ(pattern_of(out()), 0);
  EXPECT_THAT(log_.lines(), IsEmpty()) << "it may still come";
  out().sync_buffer();
  EXPECT_EQ(pattern_of(out()), 6);
  data(in())[0] = 7;
  run();
  EXPECT_EQ(pattern_of(out()), 6);
  EXPECT_THAT(log_.lines(), IsEmpty());
  run();
  EXPECT_THAT(log_.lines(), ElementsAre(AllOf(HasSubstr("output \"probs\""), HasSubstr("\"mine\""),
                                              HasSubstr("sync_buffer"))));
}

TEST_F(StrictSyncPattern, SyncingEverythingLogsNothing) {
  make(kSkipBoth);
  for (const uint8_t value : {1, 2, 2, 3}) {
    data(in())[0] = value;
    in().sync_buffer();
    const JobHandle job = runner_->execute_async(in_, out_);
    ASSERT_EQ(runner_->wait(job, kForever), StatusCode::SUCCESS);
    out().sync_buffer();
    EXPECT_EQ(pattern_of(out()), value + 1);
  }
  in_.clear();
  out_.clear();
  EXPECT_THAT(log_.lines(), IsEmpty());
}

TEST_F(StrictSyncPattern, AnImportedDescriptorIsTheSameMemoryOnBothSides) {
  make(kSkipBoth);
  int fd = in().export_buffer();
  const Tensors imported{{NpuTensor(in().get_info(), &fd, MemoryType::DMA_FD)}};
  close(fd);
  data(in())[0] = 5;
  in().sync_buffer();
  ASSERT_EQ(runner_->execute(imported, out_), StatusCode::SUCCESS);
  out().sync_buffer();
  EXPECT_EQ(pattern_of(out()), 6);
}

TEST_F(StrictSyncPattern, SubTensorsShareTheirParentsCopy) {
  make(kSkipBoth);
  NpuTensorInfo pair = in().get_info();
  pair.size_in_bytes *= 2;
  NpuTensor parent = runner_->allocate_npu_tensor(pair);
  const size_t half = in().get_info().size_in_bytes;
  in_[0][0] = runner_->allocate_sub_tensor(parent, in().get_info(), half);
  data(parent)[half] = 5;
  parent.sync_buffer();
  run();
  out().sync_buffer();
  EXPECT_EQ(pattern_of(out()), 6);
  data(in())[0] = 8;
  in().sync_buffer();
  run();
  out().sync_buffer();
  EXPECT_EQ(pattern_of(out()), 9);
  EXPECT_THAT(log_.lines(), IsEmpty());
}

TEST_F(StrictSyncPattern, AResultMayStayOnTheDevice) {
  make(kSkipBoth);
  NpuTensorInfo info = out().get_info();
  data(in())[0] = 5;
  in().sync_buffer();
  run();
  // The output is the next job's input; the host never looks at it.
  info.direction = TensorDirection::INPUT;
  info.name = in().get_info().name;
  info.memory_layout = in().get_info().memory_layout;
  const Tensors chained{{NpuTensor(info, out().get_buffer(), MemoryType::XRT_BO)}};
  Tensors last = outputs(*runner_);
  ASSERT_EQ(runner_->execute(chained, last), StatusCode::SUCCESS);
  last[0][0].sync_buffer();
  EXPECT_EQ(pattern_of(last[0][0]), 7);
  out_.clear();
  EXPECT_THAT(log_.lines(), IsEmpty());
}

TEST_F(StrictSyncPattern, CpuViewsAndUserMemoryAreCoherent) {
  make(kSkipBoth);
  std::vector<uint8_t> in_memory(in().get_info().size_in_bytes, 5);
  std::vector<uint8_t> out_memory(out().get_info().size_in_bytes);
  const Tensors in{
      {NpuTensor(in_[0][0].get_info(), in_memory.data(), MemoryType::USER_POINTER_CMA)}};
  Tensors out{{NpuTensor(out_[0][0].get_info(), out_memory.data(), MemoryType::USER_POINTER_CMA)}};
  ASSERT_EQ(runner_->execute(in, out), StatusCode::SUCCESS);
  EXPECT_EQ(out_memory[100], 6);

  in_ = inputs(*runner_, 1, TensorType::CPU);
  out_ = outputs(*runner_, 1, TensorType::CPU);
  data(this->in())[0] = 8;
  run();
  EXPECT_EQ(pattern_of(this->out()), 9);
  EXPECT_THAT(log_.lines(), IsEmpty());
}

TEST_F(StrictSyncPattern, WithoutTheVariableSkippingChangesNothing) {
  unsetenv("MILLRACE_STRICT_SYNC");
  make(kSkipBoth);
  data(in())[0] = 5;
  run();
  EXPECT_EQ(pattern_of(out()), 6);
  EXPECT_THAT(log_.lines(), IsEmpty());
}

TEST_F(StrictSyncPattern, AJobThatFailsBringsNothing) {
  use_device("faulty-pattern");
  const auto device = device::open_device("faulty-pattern").value();
  make({});
  device::faults_of(*device)->fail_nth(1);
  data(in())[0] = 5;
  EXPECT_EQ(runner_->execute(in_, out_), StatusCode::RUNTIME_ERROR);
  EXPECT_EQ(pattern_of(out()), 0);
  run();
  EXPECT_EQ(pattern_of(out()), 6);
}

// On a device that computes: the same numbers as without strict sync, in batches too.
class StrictSyncOnCpu : public StrictSync, public testing::WithParamInterface<bool> {
 protected:
  StrictSyncOnCpu() { use_device("cpu"); }
};

TEST_P(StrictSyncOnCpu, GivesTheSameBits) {
  const bool skip = GetParam();
  const Options options = {{"skip_in_bo_sync", skip}, {"skip_out_bo_sync", skip}};
  std::vector<std::vector<float>> results;
  for (const char* strict : {"0", "1"}) {
    setenv("MILLRACE_STRICT_SYNC", strict, 1);
    const std::shared_ptr<Runner> runner = make_runner(options, {.batch_size = 2});
    Tensors in = inputs(*runner, 2), out = outputs(*runner, 2);
    for (size_t frame = 0; frame < 2; ++frame) {
      const std::vector<float> x = test::tiny_numbers(64, static_cast<int>(frame));
      std::memcpy(data(in[frame][0]), x.data(), x.size() * sizeof(float));
      in[frame][0].sync_buffer();
    }
    ASSERT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
    std::vector<float>& result = results.emplace_back();
    for (std::vector<NpuTensor>& frame : out) {
      frame[0].sync_buffer();
      const float* y = data<float>(frame[0]);
      result.insert(result.end(), y, y + 256);
    }
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_NE(results[0], std::vector<float>(512));
  EXPECT_THAT(log_.lines(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Skipping, StrictSyncOnCpu, testing::Bool());

}  // namespace
}  // namespace millrace::vartml
