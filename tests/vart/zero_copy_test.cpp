// The zero-copy matrix: for which tensors the device works in the caller's own memory.
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <stdexcept>

#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

// The four kinds of memory, and a buffer object that was passed in again.
enum class Memory { kAllocated, kBufferObject, kDescriptor, kUserCma, kUserNonCma };

class ZeroCopy : public RunnerTest, public testing::WithParamInterface<Memory> {
 protected:
  ZeroCopy() {
    setenv("MILLRACE_PLUGIN_DIR", MILLRACE_TEST_PLUGIN_DIR, 1);
    use_device("witness");
    runner_ = make_runner();
  }

  // A tensor of the kind of memory under test, over memory that `host` then points to.
  NpuTensor make(TensorDirection direction, TensorType type, void*& host) {
    const NpuTensorInfo& info = runner_->get_tensors_info(direction, type)[0];
    NpuTensor& memory = kept_.emplace_back(runner_->allocate_npu_tensor(info));
    host = memory.get_virtual_address();
    switch (GetParam()) {
      case Memory::kAllocated:
        return memory;
      case Memory::kBufferObject:
        return NpuTensor(info, memory.get_buffer(), MemoryType::XRT_BO);
      case Memory::kDescriptor: {
        int fd = memory.export_buffer();
        NpuTensor tensor(info, &fd, MemoryType::DMA_FD);
        close(fd);
        return tensor;
      }
      case Memory::kUserCma:
        return NpuTensor(info, host, MemoryType::USER_POINTER_CMA);
      case Memory::kUserNonCma:
        return NpuTensor(info, host, MemoryType::USER_POINTER_NON_CMA);
    }
    return {};
  }

  struct Finding {
    bool input_in_place, output_in_place;
  };
  // Returns where the device worked, when both tensors are of this view. Its 16 bytes are the first
  // four lanes of the HW view, which are channels 0 to 3 of the first pixel in the CPU view.
  Finding run(TensorType type) {
    void *in = nullptr, *out = nullptr;
    const Tensors inputs{{make(TensorDirection::INPUT, type, in)}};
    Tensors outputs{{make(TensorDirection::OUTPUT, type, out)}};
    EXPECT_EQ(runner_->execute(inputs, outputs), StatusCode::SUCCESS);
    std::array<uint32_t, 4> words;
    const size_t lane = type == TensorType::HW ? 1 : size_t{test::kTinySide} * test::kTinySide;
    for (size_t i = 0; i < words.size(); ++i)
      words[i] = static_cast<const uint32_t*>(out)[i * lane];
    std::array<void*, 2> addresses;
    std::memcpy(addresses.data(), words.data(), sizeof(addresses));
    EXPECT_NE(addresses[0], nullptr) << "the device has been there";
    return {addresses[0] == in, addresses[1] == out};
  }

  std::shared_ptr<Runner> runner_;
  std::vector<NpuTensor> kept_;
};

TEST_P(ZeroCopy, HwTensorsAreUsedInPlace) {
  if (GetParam() == Memory::kUserNonCma) {
    EXPECT_THROW(run(TensorType::HW), std::runtime_error);
    return;
  }
  const Finding finding = run(TensorType::HW);
  EXPECT_TRUE(finding.input_in_place);
  EXPECT_TRUE(finding.output_in_place);
}

TEST_P(ZeroCopy, CpuTensorsAreConvertedWithinTheRun) {
  const Finding finding = run(TensorType::CPU);
  EXPECT_FALSE(finding.input_in_place);
  EXPECT_FALSE(finding.output_in_place);
}

std::string name_of(const testing::TestParamInfo<Memory>& info) {
  constexpr const char* kNames[] = {"Allocated", "BufferObject", "Descriptor", "UserCma",
                                    "UserNonCma"};
  return kNames[static_cast<size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Memory, ZeroCopy,
                         testing::Values(Memory::kAllocated, Memory::kBufferObject,
                                         Memory::kDescriptor, Memory::kUserCma,
                                         Memory::kUserNonCma),
                         name_of);

}  // namespace
}  // namespace millrace::vartml
