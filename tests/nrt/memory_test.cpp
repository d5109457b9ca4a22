// The memory of the cores, and pinned memory.
#include <array>
#include <cstring>

#include "nrt/nrt_experimental.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::test {
namespace {

constexpr size_t kCoreMemory = 1 << 20;

class NrtMemory : public NrtTest {
 protected:
  NrtMemory() : NrtTest("faulty-cpu", {{"MILLRACE_NRT_MEMORY", std::to_string(kCoreMemory)}}) {}

  static size_t used(uint32_t core) {
    nrt_vnc_memory_stats_t stats{};
    EXPECT_EQ(nrt_get_vnc_memory_stats(core, &stats, sizeof stats, nullptr), NRT_SUCCESS);
    EXPECT_EQ(stats.bytes_limit, kCoreMemory);
    return stats.bytes_used;
  }
};

TEST_F(NrtMemory, StatisticsFollowTensors) {
  EXPECT_EQ(used(0), 0u);
  {
    const ScopedTensor tensor(1000);
    nrt_tensor_t* slice = nullptr;
    ASSERT_EQ(nrt_tensor_allocate_slice(tensor.get(), 0, 10, "s", &slice), NRT_SUCCESS);
    EXPECT_EQ(used(0), 1000u);
    EXPECT_EQ(used(1), 0u);
    nrt_tensor_free(&slice);
  }
  EXPECT_EQ(used(0), 0u);
}

TEST_F(NrtMemory, IsGivenBackThoughItWasExecutedOn) {
  nrt_model_t* const model = load(0);
  const size_t weights = used(0);
  {
    const ScopedTensor input(kTinyInputBytes), output(kTinyOutputBytes);
    const ScopedSet inputs(kTinyInput, input.get()), outputs(kTinyOutput, output.get());
    ASSERT_EQ(nrt_execute(model, inputs.get(), outputs.get()), NRT_SUCCESS);
    EXPECT_EQ(used(0), weights + kTinyInputBytes + kTinyOutputBytes);
  }
  EXPECT_EQ(used(0), weights);
  EXPECT_EQ(nrt_unload(model), NRT_SUCCESS);
  EXPECT_EQ(used(0), 0u);
}

TEST_F(NrtMemory, OfAnExecutionIsFreeWhenItHasReturned) {
  nrt_model_t* const model = load(0);
  const size_t rest = kCoreMemory - used(0);
  for (int round = 0; round < 300; ++round) {
    const ScopedTensor arena(rest);
    nrt_tensor_t *input = nullptr, *output = nullptr;
    ASSERT_EQ(nrt_tensor_allocate_slice(arena.get(), 0, kTinyInputBytes, "x", &input), NRT_SUCCESS);
    ASSERT_EQ(
        nrt_tensor_allocate_slice(arena.get(), kTinyInputBytes, kTinyOutputBytes, "y", &output),
        NRT_SUCCESS);
    const ScopedSet inputs(kTinyInput, input), outputs(kTinyOutput, output);
    ASSERT_EQ(nrt_execute(model, inputs.get(), outputs.get()), NRT_SUCCESS);
    nrt_tensor_free(&input);
    nrt_tensor_free(&output);
  }
  EXPECT_EQ(nrt_unload(model), NRT_SUCCESS);
  EXPECT_EQ(used(0), 0u);
}

TEST_F(NrtMemory, UnloadingAModelThatWasExecutedGivesBackItsWeights) {
  nrt_model_t* const model = load(0);
  const ScopedTensor input(kTinyInputBytes), output(kTinyOutputBytes);
  const ScopedSet inputs(kTinyInput, input.get()), outputs(kTinyOutput, output.get());
  const size_t tensors = kTinyInputBytes + kTinyOutputBytes;
  ASSERT_EQ(nrt_execute(model, inputs.get(), outputs.get()), NRT_SUCCESS);
  EXPECT_GT(used(0), tensors);
  EXPECT_EQ(nrt_unload(model), NRT_SUCCESS);
  EXPECT_EQ(used(0), tensors);
}

TEST_F(NrtMemory, LoadsOfOneModelShareTheirWeights) {
  nrt_model_t* const first = load(0);
  const size_t weights = used(0);
  EXPECT_GT(weights, 0u);
  nrt_model_t* const second = load(0);
  EXPECT_EQ(used(0), weights);
  EXPECT_EQ(used(1), 0u);
  nrt_model_t* const elsewhere = load(1);
  EXPECT_EQ(used(1), weights);
  EXPECT_EQ(nrt_unload(first), NRT_SUCCESS);
  EXPECT_EQ(used(0), weights);
  EXPECT_EQ(nrt_unload(second), NRT_SUCCESS);
  EXPECT_EQ(used(0), 0u);
  EXPECT_EQ(nrt_unload(elsewhere), NRT_SUCCESS);
  EXPECT_EQ(used(1), 0u);
}

TEST_F(NrtMemory, AModelNeedsRoomForItsWeights) {
  const ScopedTensor everything(kCoreMemory);
  const std::vector<std::byte> bytes = tiny_archive();
  nrt_model_t* model = nullptr;
  EXPECT_EQ(nrt_load(bytes.data(), bytes.size(), 0, 1, &model), NRT_RESOURCE);
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(used(0), kCoreMemory);
}

TEST_F(NrtMemory, StatisticsAreCutToTheRoomThereIs) {
  const ScopedTensor tensor(1000);
  nrt_vnc_memory_stats_t stats{7, 7};
  size_t written = 0;
  ASSERT_EQ(nrt_get_vnc_memory_stats(0, &stats, 8, &written), NRT_SUCCESS);
  EXPECT_EQ(written, 8u);
  EXPECT_EQ(stats.bytes_used, 1000u);
  EXPECT_EQ(stats.bytes_limit, 7u);
  EXPECT_EQ(nrt_get_vnc_memory_stats(2, &stats, 8, &written), NRT_INVALID);
  EXPECT_EQ(nrt_get_vnc_memory_stats(0, nullptr, 8, &written), NRT_INVALID);
}

TEST_F(NrtMemory, AllocationsAreListedLargestFirst) {
  const ScopedTensor small(100), large(5000), elsewhere(300, 1);
  nrt_tensor_t* slice = nullptr;
  ASSERT_EQ(nrt_tensor_allocate_slice(large.get(), 64, 10, "s", &slice), NRT_SUCCESS);
  std::array<neuron_ioctl_mem_chunk_info, 8> pieces{};
  uint32_t count = pieces.size();
  ASSERT_EQ(nrt_dump_device_allocation_info(0, pieces.data(), &count), NRT_SUCCESS);
  ASSERT_EQ(count, 2u);
  EXPECT_EQ(pieces[0].size, 5000u);
  EXPECT_EQ(pieces[1].size, 100u);
  nrt_tensor_device_allocation_info_t info{};
  ASSERT_EQ(nrt_tensor_get_device_allocation_info(small.get(), &info), NRT_SUCCESS);
  EXPECT_EQ(pieces[1].pa, info.physical_address);
  pieces = {};
  count = 1;
  ASSERT_EQ(nrt_dump_device_allocation_info(0, pieces.data(), &count), NRT_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(pieces[1].size, 0u);
  EXPECT_EQ(nrt_dump_device_allocation_info(0, pieces.data(), nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_dump_device_allocation_info(0, nullptr, &count), NRT_INVALID);
  EXPECT_EQ(nrt_dump_device_allocation_info(-1, pieces.data(), &count), NRT_INVALID);
  nrt_tensor_free(&slice);
}

TEST_F(NrtMemory, TheReportNamesWhatTakesTheMemory) {
  nrt_tensor_t* tensor = nullptr;
  ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 1, 4000, "kv cache", &tensor),
            NRT_SUCCESS);
  const LogCapture log;
  EXPECT_EQ(nrt_debug_log_oom_report(1), NRT_SUCCESS);
  EXPECT_EQ(log.count("memory of core 1: 4000 of 1048576 bytes are used"), 1u);
  EXPECT_EQ(log.count("\"kv cache\": 4000 bytes"), 1u);
  EXPECT_EQ(nrt_debug_log_oom_report(2), NRT_INVALID);
  nrt_tensor_free(&tensor);
}

TEST_F(NrtMemory, BytesAreCopiedToAnAddress) {
  const ScopedTensor tensor(8);
  auto* const address = static_cast<char*>(nrt_tensor_get_va(tensor.get()));
  EXPECT_EQ(nrt_memcpy_to_device(address + 2, "abc", 3), NRT_SUCCESS);
  std::array<char, 8> content{};
  ASSERT_EQ(nrt_tensor_read(tensor.get(), content.data(), 0, 8), NRT_SUCCESS);
  EXPECT_EQ(std::string(content.data() + 2, 4), std::string("abc\0", 4));
  EXPECT_EQ(nrt_memcpy_to_device(nullptr, "abc", 3), NRT_INVALID);
  EXPECT_EQ(nrt_memcpy_to_device(address, nullptr, 3), NRT_INVALID);
}

TEST(PinnedMemory, IsWritableAndPageAlignedAtAnyTime) {
  for (const nrt_pinned_alloc_type_t type :
       {NRT_PINNED_MALLOC, NRT_PINNED_HUGEPAGE_2M, NRT_PINNED_HUGEPAGE_1G}) {
    void* const memory = nrt_pinned_malloc(5000, type);
    ASSERT_NE(memory, nullptr) << type;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 4096, 0u);
    std::memset(memory, 1, 5000);
    nrt_pinned_free(memory);
  }
  EXPECT_EQ(nrt_pinned_malloc(0, NRT_PINNED_MALLOC), nullptr);
  EXPECT_EQ(nrt_pinned_malloc(SIZE_MAX, NRT_PINNED_HUGEPAGE_2M), nullptr);
  EXPECT_EQ(nrt_pinned_malloc(SIZE_MAX / 2, NRT_PINNED_MALLOC), nullptr);
  EXPECT_EQ(nrt_pinned_malloc(16, static_cast<nrt_pinned_alloc_type_t>(3)), nullptr);
}

TEST(PinnedMemory, ForeignAddressesAreLeftAlone) {
  char mine = 'x';
  const LogCapture log;
  nrt_pinned_free(nullptr);
  nrt_pinned_free(&mine);
  EXPECT_EQ(log.count("nrt_pinned_malloc did not return the address"), 1u);
}

}  // namespace
}  // namespace millrace::test
