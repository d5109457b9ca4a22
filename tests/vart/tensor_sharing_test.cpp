// NpuTensor: memory that several tensors, threads and programs share.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "memory/buffer.h"
#include "tests/support/descriptor_limit.h"
#include "tests/support/log_capture.h"
#include "tests/support/open_descriptors.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using test::open_descriptors;

class TensorSharing : public RunnerTest {
 protected:
  TensorSharing() {
    setenv("MILLRACE_PLUGIN_DIR", MILLRACE_TEST_PLUGIN_DIR, 1);
    use_device("pattern");  // every byte of the output is the first of the input plus one
    runner_ = make_runner();
    in_ = runner_->get_tensors_info(TensorDirection::INPUT, TensorType::HW)[0];
    out_ = runner_->get_tensors_info(TensorDirection::OUTPUT, TensorType::HW)[0];
  }

  NpuTensor from_fd(const NpuTensorInfo& info, int fd) {
    return NpuTensor(info, &fd, MemoryType::DMA_FD);
  }
  // The result of a job for the input; -1 when it does not run.
  int run(const NpuTensor& input) {
    Tensors out = outputs(*runner_);
    if (runner_->execute({{input}}, out) != StatusCode::SUCCESS) return -1;
    return data(out[0][0])[0];
  }

  std::shared_ptr<Runner> runner_;
  NpuTensorInfo in_, out_;
};

TEST_F(TensorSharing, AnExportedDescriptorIsTheCallersToClose) {
  NpuTensor tensor = runner_->allocate_npu_tensor(in_);
  const int first = tensor.export_buffer(), second = tensor.export_buffer();
  ASSERT_GE(first, 0);
  ASSERT_NE(first, second);
  EXPECT_EQ(close(first), 0);
  data(tensor)[0] = 5;
  EXPECT_EQ(run(tensor), 6);
  // Anybody can map it.
  void* mapped = mmap(nullptr, in_.size_in_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, second, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_EQ(*static_cast<uint8_t*>(mapped), 5);
  tensor = NpuTensor();
  EXPECT_EQ(close(second), 0);
  EXPECT_EQ(*static_cast<uint8_t*>(mapped), 5) << "the memory outlives the tensor";
  munmap(mapped, in_.size_in_bytes);
}

TEST_F(TensorSharing, AnImportOutlivesTheExporterAndItsDescriptor) {
  NpuTensor imported;
  {
    NpuTensor tensor = runner_->allocate_npu_tensor(in_);
    data(tensor)[0] = 5;
    const int fd = tensor.export_buffer();
    tensor = NpuTensor();
    imported = from_fd(in_, fd);
    close(fd);
  }
  EXPECT_EQ(run(imported), 6);
  const int again = imported.export_buffer();
  ASSERT_GE(again, 0);
  imported = NpuTensor();
  EXPECT_EQ(run(from_fd(in_, again)), 6) << "a wrapped descriptor can be exported";
  close(again);
}

TEST_F(TensorSharing, MemoryOfOtherProgramsCanBeImported) {
  const int fd = memfd_create("foreign", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(in_.size_in_bytes)), 0);
  const uint8_t value = 8;
  ASSERT_EQ(pwrite(fd, &value, 1, 0), 1);
  EXPECT_EQ(run(from_fd(in_, fd)), 9);
  close(fd);
}

TEST_F(TensorSharing, ADescriptorThatIsReadOnlyServesAsInputOnly) {
  const int fd = memfd_create("foreign", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(in_.size_in_bytes + out_.size_in_bytes)), 0);
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const int read_only = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(run(from_fd(in_, read_only)), 1);
  Tensors out{{from_fd(out_, read_only)}};
  const test::LogCapture log;
  EXPECT_EQ(runner_->execute(inputs(*runner_), out), StatusCode::INVALID_OUTPUT);
  EXPECT_EQ(log.count("output \"probs\": the memory is read-only"), 1u);
  close(read_only);
  close(fd);
}

TEST_F(TensorSharing, DescriptorsThatCannotBeMappedAreRefusedWithTheReason) {
  const auto refusal = [&](int fd) -> std::string {
    try {
      from_fd(in_, fd);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "taken";
  };
  int pipe_ends[2];
  ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
  const int small = memfd_create("small", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(small, 10), 0);
  EXPECT_THAT(refusal(small), testing::HasSubstr("only 10 bytes"));
  EXPECT_THAT(refusal(pipe_ends[0]), testing::HasSubstr("pipe"));
  for (const int fd : {pipe_ends[0], pipe_ends[1], small}) close(fd);
  EXPECT_THAT(refusal(small), testing::HasSubstr("Bad file descriptor"));
}

TEST_F(TensorSharing, ATruncatedFileFailsTheJobOfAPointerIntoIt) {
  const int fd = memfd_create("shrinks", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(in_.size_in_bytes)), 0);
  const memory::Buffer mapped = memory::Buffer::import_fd(fd, in_.size_in_bytes).value();
  const NpuTensor pointer(in_, mapped.data(), MemoryType::USER_POINTER_CMA);
  EXPECT_EQ(run(pointer), 1);
  ASSERT_EQ(ftruncate(fd, 0), 0);
  EXPECT_EQ(run(pointer), -1);
  close(fd);
}

// Touching what is lost would end the process with SIGBUS.
TEST_F(TensorSharing, ATruncatedFileFailsTheJob) {
  const int in_fd = memfd_create("shrinks", MFD_CLOEXEC);
  const int out_fd = memfd_create("shrinks", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(in_fd, static_cast<off_t>(in_.size_in_bytes)), 0);
  ASSERT_EQ(ftruncate(out_fd, static_cast<off_t>(out_.size_in_bytes)), 0);
  const Tensors in{{from_fd(in_, in_fd)}};
  Tensors out{{from_fd(out_, out_fd)}};
  EXPECT_EQ(runner_->execute(in, out), StatusCode::SUCCESS);
  ASSERT_EQ(ftruncate(out_fd, 0), 0);
  const test::LogCapture log;
  EXPECT_EQ(runner_->execute(in, out), StatusCode::RUNTIME_ERROR);
  EXPECT_EQ(log.count("probs: the file behind the memory was truncated: it has 0 of"), 1u);
  ASSERT_EQ(ftruncate(in_fd, 0), 0);
  EXPECT_EQ(runner_->wait(runner_->execute_async(in, out), kForever), StatusCode::RUNTIME_ERROR);
  EXPECT_EQ(log.count("data: the file behind the memory was truncated: it has 0 of"), 1u);
  ASSERT_EQ(ftruncate(in_fd, static_cast<off_t>(in_.size_in_bytes)), 0);
  ASSERT_EQ(ftruncate(out_fd, static_cast<off_t>(out_.size_in_bytes)), 0);
  EXPECT_EQ(runner_->execute(in, out), StatusCode::SUCCESS);
  close(in_fd);
  close(out_fd);
}

TEST_F(TensorSharing, ManyTensorsComeFromOneDescriptor) {
  NpuTensor source = runner_->allocate_npu_tensor(in_);
  data(source)[0] = 5;
  std::vector<NpuTensor> tensors;
  const int fd = source.export_buffer();
  for (int i = 0; i < 50; ++i) tensors.push_back(from_fd(in_, fd));
  close(fd);
  EXPECT_NE(*static_cast<int*>(tensors[0].get_buffer()),
            *static_cast<int*>(tensors[1].get_buffer()));
  for (size_t i = 0; i < tensors.size(); i += 7) EXPECT_EQ(run(tensors[i]), 6);
  tensors.erase(tensors.begin(), tensors.begin() + 25);
  EXPECT_EQ(run(tensors.back()), 6);
}

TEST_F(TensorSharing, NoDescriptorIsLeftOpen) {
  const size_t before = open_descriptors();
  {
    const NpuTensor source = runner_->allocate_npu_tensor(in_);
    const int fd = source.export_buffer();
    const NpuTensor first = from_fd(in_, fd), second = from_fd(in_, fd);
    EXPECT_NE(first.get_buffer(), nullptr);
    EXPECT_THROW(from_fd(in_, -1), std::runtime_error);
    close(first.export_buffer());
    close(fd);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(TensorSharing, PhysicalAddressesOfLiveMemoryDoNotMeet) {
  std::vector<NpuTensor> tensors;
  for (int i = 0; i < 20; ++i)
    tensors.push_back(runner_->allocate_npu_tensor(i % 2 == 0 ? in_ : out_));
  for (const NpuTensor& tensor : tensors) {
    EXPECT_NE(tensor.get_physical_address(), 0u);
    EXPECT_EQ(tensor.get_physical_address() % 4096, 0u);
  }
  std::sort(tensors.begin(), tensors.end(), [](const NpuTensor& a, const NpuTensor& b) {
    return a.get_physical_address() < b.get_physical_address();
  });
  for (size_t i = 1; i < tensors.size(); ++i)
    EXPECT_LE(tensors[i - 1].get_physical_address() + tensors[i - 1].get_info().size_in_bytes,
              tensors[i].get_physical_address());
}

TEST_F(TensorSharing, ASubTensorAtTheBeginningIsExportedAsItsParent) {
  NpuTensorInfo whole = in_;
  whole.size_in_bytes *= 2;
  NpuTensor parent = runner_->allocate_npu_tensor(whole);
  const NpuTensor sub = runner_->allocate_sub_tensor(parent, in_, 0);
  data(parent)[0] = 5;
  parent = NpuTensor();
  const int fd = sub.export_buffer();
  ASSERT_GE(fd, 0);
  EXPECT_EQ(run(from_fd(in_, fd)), 6);
  EXPECT_NO_THROW(from_fd(whole, fd));
  close(fd);
}

TEST_F(TensorSharing, OneThatCannotBeExportedSaysWhy) {
  const test::LogCapture log;
  const std::shared_ptr<Runner> runner = make_runner({{"name", "many"}, {"debug", true}});
  const test::DescriptorLimit limit(64);
  std::vector<NpuTensor> tensors;
  for (int i = 0; i < 100; ++i) tensors.push_back(runner->allocate_npu_tensor(in_));
  EXPECT_EQ(tensors.back().export_buffer(), -1);
  EXPECT_EQ(run(tensors.back()), 1) << "it is as good as any other";
  EXPECT_EQ(log.count("WARNING many: export_buffer: tensor \"data\""), 1u);
  EXPECT_EQ(log.count("RLIMIT_NOFILE"), 1u);

  NpuTensorInfo whole = in_;
  whole.size_in_bytes *= 2;
  const NpuTensor parent = runner->allocate_npu_tensor(whole);
  EXPECT_EQ(runner->allocate_sub_tensor(parent, in_, in_.size_in_bytes).export_buffer(), -1);
  EXPECT_EQ(log.count("DEBUG many: export_buffer: tensor \"data\""), 1u);
}

TEST_F(TensorSharing, SubTensorsAreUsableEverywhereButOnlyTheFirstIsExported) {
  NpuTensorInfo whole = in_;
  whole.size_in_bytes *= 3;
  NpuTensor parent = runner_->allocate_npu_tensor(whole);
  std::vector<NpuTensor> subs;
  for (size_t i = 0; i < 3; ++i) {
    const size_t offset = i * in_.size_in_bytes;
    NpuTensor& sub = subs.emplace_back(runner_->allocate_sub_tensor(parent, in_, offset));
    EXPECT_EQ(sub.get_physical_address(), parent.get_physical_address() + offset);
    EXPECT_EQ(sub.get_virtual_address(), data(parent) + offset);
    const int fd = sub.export_buffer();
    EXPECT_EQ(fd >= 0, i == 0);
    if (fd >= 0) close(fd);
    EXPECT_NO_THROW(sub.sync_buffer());
    data(sub)[0] = static_cast<uint8_t>(i);
  }
  const NpuTensor wrapped(in_, subs[2].get_buffer(), MemoryType::XRT_BO);
  parent = NpuTensor();
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(run(subs[i]), static_cast<int>(i + 1));
  EXPECT_EQ(run(wrapped), 3);
}

TEST_F(TensorSharing, ConstMemoryOfEveryKindIsOnlyRead) {
  NpuTensor source = runner_->allocate_npu_tensor(out_);
  data(source)[0] = 5;
  int fd = source.export_buffer();
  const void* const object = source.get_buffer();
  const void* const descriptor = &fd;
  for (const auto& [buffer, type] :
       {std::pair{object, MemoryType::XRT_BO}, std::pair{descriptor, MemoryType::DMA_FD}}) {
    NpuTensor tensor(in_, buffer, type);
    const NpuTensor& constant = tensor;
    EXPECT_EQ(tensor.get_buffer(), nullptr);
    EXPECT_EQ(tensor.get_virtual_address(), nullptr);
    EXPECT_NE(constant.get_buffer(), nullptr);
    EXPECT_EQ(run(tensor), 6);
    Tensors out{{NpuTensor(out_, buffer, type)}};
    EXPECT_EQ(runner_->execute({{tensor}}, out), StatusCode::INVALID_OUTPUT);
  }
  close(fd);
}

TEST_F(TensorSharing, HeapMemoryIsGoodForCpuTensorsUnderAnyTag) {
  const NpuTensorInfo& in = runner_->get_tensors_info(TensorDirection::INPUT, TensorType::CPU)[0];
  for (const MemoryType type : {MemoryType::USER_POINTER_CMA, MemoryType::USER_POINTER_NON_CMA}) {
    const std::unique_ptr<void, decltype(&std::free)> memory(std::malloc(in.size_in_bytes), &free);
    std::memset(memory.get(), 0, in.size_in_bytes);
    *static_cast<uint8_t*>(memory.get()) = 5;
    EXPECT_EQ(run(NpuTensor(in, memory.get(), type)), 6);
  }
}

TEST_F(TensorSharing, CopiesOfOneTensorAreUsedFromSeveralThreads) {
  NpuTensor source = runner_->allocate_npu_tensor(in_);
  data(source)[0] = 5;
  const int fd = source.export_buffer();
  const NpuTensor imported = from_fd(in_, fd);
  close(fd);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, allocated = source, imported]() mutable {
      for (int round = 0; round < 25; ++round) {
        NpuTensor copy = round % 2 == 0 ? allocated : imported;
        const NpuTensor moved = std::move(copy);
        EXPECT_EQ(run(moved), 6);
        EXPECT_NE(moved.get_buffer(), nullptr);
        close(moved.export_buffer());
        allocated.sync_buffer();
        EXPECT_EQ(allocated.get_physical_address(), source.get_physical_address());
        runner_->allocate_sub_tensor(allocated, in_, 0).sync_buffer();
      }
    });
  for (std::thread& thread : threads) thread.join();
}

class QueuedJobs : public GatedRunnerTest {};

TEST_F(QueuedJobs, AFileThatIsTruncatedBeforeItsJobBeginsFailsTheJob) {
  const auto runner = make_runner({{"async_threadpool_depth", 1}});
  const NpuTensorInfo& info = runner->get_tensors_info(TensorDirection::INPUT, TensorType::HW)[0];
  int fd = memfd_create("shrinks", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(info.size_in_bytes)), 0);
  const Tensors in{{NpuTensor(info, &fd, MemoryType::DMA_FD)}};
  Tensors out = outputs(*runner), other = outputs(*runner);
  const JobHandle running = runner->execute_async(inputs(*runner), other);
  gate_->await_arrivals(1);
  const JobHandle queued = runner->execute_async(in, out);
  ASSERT_EQ(queued.status, StatusCode::SUCCESS);
  ASSERT_EQ(ftruncate(fd, 0), 0);
  close(fd);
  gate_->release();
  EXPECT_EQ(runner->wait(queued, kForever), StatusCode::RUNTIME_ERROR);
  EXPECT_EQ(runner->wait(running, kForever), StatusCode::SUCCESS);
}

}  // namespace
}  // namespace millrace::vartml
