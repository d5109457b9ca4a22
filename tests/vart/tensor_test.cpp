// NpuTensor: what can be wrapped, what the accessors give, who owns what.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using ::testing::HasSubstr;
using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStdout;

bool is_open(int fd) {
  return fcntl(fd, F_GETFD) >= 0;
}

class TensorTest : public RunnerTest {
 protected:
  TensorTest() : runner_(make_runner()) {
    hw_ = runner_->get_tensors_info(TensorDirection::INPUT, TensorType::HW)[0];
    cpu_ = runner_->get_tensors_info(TensorDirection::INPUT, TensorType::CPU)[0];
    memory_.resize(hw_.size_in_bytes);
  }

  std::string refusal(const NpuTensorInfo& info, void* buffer, MemoryType type) {
    try {
      NpuTensor tensor(info, buffer, type);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "accepted";
  }

  std::shared_ptr<Runner> runner_;
  NpuTensorInfo hw_, cpu_;
  std::vector<char> memory_;
};

TEST_F(TensorTest, AnEmptyOneHasNothing) {
  NpuTensor empty;
  const NpuTensor& constant = empty;
  EXPECT_EQ(empty.get_buffer(), nullptr);
  EXPECT_EQ(constant.get_buffer(), nullptr);
  EXPECT_EQ(empty.get_virtual_address(), nullptr);
  EXPECT_EQ(constant.get_virtual_address(), nullptr);
  EXPECT_EQ(empty.get_physical_address(), 0u);
  EXPECT_EQ(empty.get_memory_type(), MemoryType::UNKNOWN);
  EXPECT_EQ(empty.export_buffer(), -1);
  EXPECT_TRUE(empty.get_info().name.empty());
  EXPECT_THROW(empty.sync_buffer(), std::runtime_error);
}

TEST_F(TensorTest, WrapsUserMemory) {
  NpuTensor tensor(hw_, memory_.data(), MemoryType::USER_POINTER_CMA);
  EXPECT_EQ(tensor.get_buffer(), memory_.data());
  EXPECT_EQ(tensor.get_virtual_address(), memory_.data());
  EXPECT_EQ(tensor.get_physical_address(), 0u);
  EXPECT_EQ(tensor.export_buffer(), -1);
  EXPECT_EQ(tensor.get_memory_type(), MemoryType::USER_POINTER_CMA);
  EXPECT_EQ(tensor.get_info().name, "data");
  EXPECT_THROW(tensor.sync_buffer(), std::runtime_error);
}

TEST_F(TensorTest, MadeFromConstMemoryItIsOnlyRead) {
  const void* memory = memory_.data();
  NpuTensor tensor(cpu_, memory, MemoryType::USER_POINTER_NON_CMA);
  const NpuTensor& constant = tensor;
  EXPECT_EQ(tensor.get_buffer(), nullptr);
  EXPECT_EQ(tensor.get_virtual_address(), nullptr);
  EXPECT_EQ(constant.get_buffer(), memory);
  EXPECT_EQ(constant.get_virtual_address(), memory);
}

TEST_F(TensorTest, RefusesWhatCannotBeATensor) {
  void* memory = memory_.data();
  const auto without = [&](auto&& remove) {
    NpuTensorInfo info = hw_;
    remove(info);
    return refusal(info, memory, MemoryType::USER_POINTER_CMA);
  };
  EXPECT_THAT(refusal(hw_, nullptr, MemoryType::USER_POINTER_CMA), HasSubstr("null"));
  EXPECT_THAT(refusal(hw_, memory, MemoryType::UNKNOWN), HasSubstr("UNKNOWN"));
  EXPECT_THAT(refusal(hw_, memory, static_cast<MemoryType>(77)), HasSubstr("UNKNOWN"));
  EXPECT_THAT(refusal(hw_, memory, MemoryType::USER_POINTER_NON_CMA), HasSubstr("NON_CMA"));
  EXPECT_THAT(without([](auto& info) { info.name.clear(); }), HasSubstr("name"));
  EXPECT_THAT(without([](auto& info) { info.data_type = ::vart::DataType::UNKNOWN; }),
              HasSubstr("data_type"));
  EXPECT_THAT(without([](auto& info) { info.memory_layout = ::vart::MemoryLayout::UNKNOWN; }),
              HasSubstr("memory_layout"));
  EXPECT_THAT(without([](auto& info) { info.memory_layout = ::vart::MemoryLayout::GENERIC; }),
              HasSubstr("memory_layout_order"));
  EXPECT_THAT(without([](auto& info) { info.size = 0; }), HasSubstr("size"));
  EXPECT_THAT(without([](auto& info) { info.size_in_bytes = 0; }), HasSubstr("size_in_bytes"));
  EXPECT_THAT(without([](auto& info) { info.shape.clear(); }), HasSubstr("shape"));
  EXPECT_THAT(without([](auto& info) { info.strides.clear(); }), HasSubstr("strides"));
}

TEST_F(TensorTest, AllocatedMemoryIsZeroWritableAndExportable) {
  for (const NpuTensorInfo& info : {hw_, cpu_}) {
    NpuTensor tensor = runner_->allocate_npu_tensor(info);
    EXPECT_EQ(tensor.get_memory_type(), MemoryType::XRT_BO);
    EXPECT_NE(tensor.get_buffer(), nullptr);
    EXPECT_NE(tensor.get_physical_address(), 0u);
    EXPECT_EQ(tensor.get_physical_address() % 4096, 0u);
    const std::vector<uint8_t> zeros(info.size_in_bytes);
    EXPECT_EQ(std::memcmp(tensor.get_virtual_address(), zeros.data(), zeros.size()), 0);
    std::memset(tensor.get_virtual_address(), 7, info.size_in_bytes);
    tensor.sync_buffer();
    const int fd = tensor.export_buffer();
    ASSERT_GE(fd, 0);
    EXPECT_EQ(close(fd), 0);
  }
}

TEST_F(TensorTest, CopiesShareMemoryThatOutlivesTheRunner) {
  NpuTensor copy;
  {
    NpuTensor tensor = runner_->allocate_npu_tensor(hw_);
    data(tensor)[0] = 42;
    copy = tensor;
    EXPECT_EQ(copy.get_virtual_address(), tensor.get_virtual_address());
  }
  runner_.reset();
  EXPECT_EQ(data(copy)[0], 42);
  NpuTensor moved = std::move(copy);
  EXPECT_EQ(data(moved)[0], 42);
  EXPECT_EQ(copy.get_virtual_address(), nullptr);  // NOLINT(bugprone-use-after-move)
}

TEST_F(TensorTest, ADescriptorIsDuplicatedNotKept) {
  NpuTensor source = runner_->allocate_npu_tensor(hw_);
  NpuTensor imported;
  {
    int fd = source.export_buffer();
    imported = NpuTensor(hw_, &fd, MemoryType::DMA_FD);
    close(fd);
    fd = -1;
  }
  EXPECT_EQ(imported.get_virtual_address(), nullptr);
  EXPECT_EQ(imported.get_physical_address(), 0u);
  const int own = *static_cast<int*>(imported.get_buffer());
  EXPECT_TRUE(is_open(own));
  EXPECT_EQ(*static_cast<int*>(imported.get_buffer()), own) << "the same one every time";
  const int exported = imported.export_buffer();
  EXPECT_NE(exported, own);
  struct stat a, b;
  ASSERT_EQ(fstat(exported, &a), 0);
  const int original = source.export_buffer();
  ASSERT_EQ(fstat(original, &b), 0);
  EXPECT_EQ(a.st_ino, b.st_ino) << "the same file";
  close(exported);
  close(original);
  imported = NpuTensor();
  EXPECT_FALSE(is_open(own));
}

TEST_F(TensorTest, RefusesDescriptorsThatCannotBeMapped) {
  int closed = -1;
  EXPECT_NE(refusal(hw_, &closed, MemoryType::DMA_FD), "accepted");
  int small = memfd_create("small", 0);
  ASSERT_EQ(ftruncate(small, 8), 0);
  EXPECT_NE(refusal(hw_, &small, MemoryType::DMA_FD), "accepted");
  close(small);
}

TEST_F(TensorTest, ABufferObjectCanBeWrappedAgain) {
  NpuTensor tensor = runner_->allocate_npu_tensor(hw_);
  NpuTensor again(hw_, tensor.get_buffer(), MemoryType::XRT_BO);
  EXPECT_EQ(again.get_virtual_address(), tensor.get_virtual_address());
  EXPECT_EQ(again.get_physical_address(), tensor.get_physical_address());
  EXPECT_EQ(again.get_buffer(), tensor.get_buffer());
  EXPECT_THROW(again.sync_buffer(), std::runtime_error) << "wrapped, not allocated";

  NpuTensorInfo larger = hw_;
  larger.size_in_bytes = 1 << 20;
  EXPECT_THAT(refusal(larger, tensor.get_buffer(), MemoryType::XRT_BO), HasSubstr("bytes"));
  int no_object = 0;
  EXPECT_THAT(refusal(hw_, &no_object, MemoryType::XRT_BO), HasSubstr("not a buffer object"));
}

TEST_F(TensorTest, SubTensorsShareTheirParentsMemory) {
  NpuTensorInfo whole = hw_;
  whole.size_in_bytes *= 2;
  NpuTensor sub;
  uint64_t parent_address = 0;
  {
    NpuTensor parent = runner_->allocate_npu_tensor(whole);
    data(parent)[hw_.size_in_bytes] = 9;
    parent_address = parent.get_physical_address();
    sub = runner_->allocate_sub_tensor(parent, hw_, hw_.size_in_bytes);
  }
  EXPECT_EQ(data(sub)[0], 9) << "the parent's memory is kept";
  EXPECT_EQ(sub.get_memory_type(), MemoryType::XRT_BO);
  EXPECT_EQ(sub.get_physical_address(), parent_address + hw_.size_in_bytes);
  EXPECT_NE(sub.get_buffer(), nullptr);
  sub.sync_buffer();
}

TEST_F(TensorTest, RefusesSubTensorsThatDoNotFit) {
  const NpuTensor parent = runner_->allocate_npu_tensor(hw_);
  const NpuTensor wrapped(hw_, memory_.data(), MemoryType::USER_POINTER_CMA);
  const NpuTensor sub = runner_->allocate_sub_tensor(parent, hw_, 0);
  NpuTensorInfo empty = hw_;
  empty.size_in_bytes = 0;
  const auto allocate = [&](const NpuTensor& from, const NpuTensorInfo& info, size_t offset) {
    return runner_->allocate_sub_tensor(from, info, offset);
  };
  EXPECT_THROW(allocate(parent, hw_, 1), std::invalid_argument);
  EXPECT_THROW(allocate(parent, hw_, ~size_t{0}), std::invalid_argument);
  EXPECT_THROW(allocate(parent, empty, 0), std::invalid_argument);
  EXPECT_THROW(allocate(wrapped, hw_, 0), std::invalid_argument);
  EXPECT_THROW(allocate(sub, hw_, 0), std::invalid_argument);
  EXPECT_THROW(allocate(NpuTensor(), hw_, 0), std::invalid_argument);
}

TEST_F(TensorTest, RefusesToAllocateWhatIsNotDescribed) {
  EXPECT_THROW(runner_->allocate_npu_tensor(NpuTensorInfo{}), std::invalid_argument);
  NpuTensorInfo zero = hw_;
  zero.size_in_bytes = 0;
  EXPECT_THROW(runner_->allocate_npu_tensor(zero), std::invalid_argument);
  NpuTensorInfo huge = hw_;
  huge.size_in_bytes = ~size_t{0} / 2;
  EXPECT_THROW(runner_->allocate_npu_tensor(huge), std::runtime_error);
  EXPECT_THROW(runner_->allocate_npu_tensor(hw_, 99), std::runtime_error);
  EXPECT_NE(runner_->allocate_npu_tensor(hw_, 1).get_virtual_address(), nullptr);
}

TEST_F(TensorTest, PrintsItsDescription) {
  CaptureStdout();
  runner_->allocate_npu_tensor(hw_).print_info();
  const std::string printed = GetCapturedStdout();
  for (const char* part : {"data", "FLOAT32", "INPUT", "HW", "HCWNC4", "4, 1, 4, 1, 4", "XRT_BO"})
    EXPECT_THAT(printed, HasSubstr(part));
  CaptureStdout();
  hw_.print();
  EXPECT_THAT(GetCapturedStdout(), HasSubstr("HCWNC4"));
}

}  // namespace
}  // namespace millrace::vartml
