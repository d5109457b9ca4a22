// Tensors: memory, slices, attached buffers, and the copies on the calling thread.
#include <algorithm>
#include <array>
#include <cstring>

#include "tests/nrt/nrt_fixture.h"

namespace millrace::test {
namespace {

std::string read(const nrt_tensor_t* tensor) {
  std::string text(nrt_tensor_get_size(tensor), '?');
  EXPECT_EQ(nrt_tensor_read(tensor, text.data(), 0, text.size()), NRT_SUCCESS);
  return text;
}

void write(nrt_tensor_t* tensor, std::string_view text, size_t offset = 0) {
  EXPECT_EQ(nrt_tensor_write(tensor, text.data(), offset, text.size()), NRT_SUCCESS);
}

class Tensors : public NrtTest {
 protected:
  Tensors() : NrtTest("null", {{"MILLRACE_NRT_MEMORY", "1M"}}) {}

  static nrt_tensor_t* untouched() { return reinterpret_cast<nrt_tensor_t*>(0x1234); }
  // A failure leaves the pointer as it was.
  static NRT_STATUS allocate(nrt_tensor_placement_t placement, int core, size_t bytes) {
    nrt_tensor_t* tensor = untouched();
    const NRT_STATUS status = nrt_tensor_allocate(placement, core, bytes, nullptr, &tensor);
    if (status == NRT_SUCCESS)
      nrt_tensor_free(&tensor);
    else
      EXPECT_EQ(tensor, untouched());
    return status;
  }
};

TEST_F(Tensors, FreshMemoryIsZero) {
  {
    const ScopedTensor used(4096);
    EXPECT_EQ(nrt_tensor_memset(used.get(), 0, 0xab, 4096), NRT_SUCCESS);
  }
  const ScopedTensor fresh(4096);
  EXPECT_EQ(read(fresh.get()), std::string(4096, '\0'));
}

TEST_F(Tensors, AllocationKnowsPlacesAndSizes) {
  EXPECT_EQ(allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 16), NRT_SUCCESS);  // without a name
  EXPECT_EQ(allocate(NRT_TENSOR_PLACEMENT_HOST, 1, 16), NRT_SUCCESS);
  EXPECT_EQ(allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 16), NRT_SUCCESS);
  EXPECT_EQ(allocate(NRT_TENSOR_PLACEMENT_VIRTUAL, -1, 16), NRT_SUCCESS);
  EXPECT_EQ(allocate(NRT_TENSOR_PLACEMENT_DEVICE, -1, 16), NRT_INVALID);
  EXPECT_EQ(allocate(NRT_TENSOR_PLACEMENT_DEVICE, 2, 16), NRT_INVALID);
  EXPECT_EQ(allocate(static_cast<nrt_tensor_placement_t>(3), 0, 16), NRT_INVALID);
  EXPECT_EQ(allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 0), NRT_INVALID);
  EXPECT_EQ(allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 0), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 16, "t", nullptr), NRT_INVALID);
}

TEST_F(Tensors, ACoreHasSoMuchMemory) {
  EXPECT_EQ(allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, (1u << 20) + 1), NRT_RESOURCE);
  EXPECT_EQ(allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, SIZE_MAX), NRT_RESOURCE);
  EXPECT_EQ(allocate(NRT_TENSOR_PLACEMENT_HOST, -1, SIZE_MAX), NRT_RESOURCE);
  {
    const ScopedTensor most((1u << 20) - 10);
    EXPECT_EQ(allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 11), NRT_RESOURCE);
    EXPECT_EQ(allocate(NRT_TENSOR_PLACEMENT_DEVICE, 1, 11), NRT_SUCCESS);  // the other core
  }
  EXPECT_EQ(allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 11), NRT_SUCCESS);  // after the free
}

TEST_F(Tensors, FreeStoresNull) {
  ScopedTensor tensor(16);
  nrt_tensor_t* const before = tensor.get();
  nrt_tensor_free(tensor.address());
  EXPECT_EQ(tensor.get(), nullptr);
  nrt_tensor_free(tensor.address());
  nrt_tensor_free(nullptr);
  char byte = 0;
  EXPECT_EQ(nrt_tensor_read(before, &byte, 0, 1), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_tensor_read(nullptr, &byte, 0, 1), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_tensor_get_size(before), 0u);
  EXPECT_EQ(nrt_tensor_get_va(before), nullptr);
}

TEST_F(Tensors, RangesOutsideCopyNothing) {
  const ScopedTensor tensor(8);
  write(tensor.get(), "abcdefgh");
  std::string buffer = "--------";
  for (const auto& [offset, size] : std::initializer_list<std::pair<size_t, size_t>>{
           {0, 9}, {8, 1}, {9, 0}, {1, SIZE_MAX}, {SIZE_MAX, 1}}) {
    EXPECT_EQ(nrt_tensor_read(tensor.get(), buffer.data(), offset, size), NRT_INVALID) << offset;
    EXPECT_EQ(nrt_tensor_write(tensor.get(), buffer.data(), offset, size), NRT_INVALID) << offset;
    EXPECT_EQ(nrt_tensor_memset(tensor.get(), offset, 1, size), NRT_INVALID) << offset;
    EXPECT_EQ(nrt_tensor_copy(tensor.get(), offset, tensor.get(), 0, size), NRT_INVALID) << offset;
    EXPECT_EQ(nrt_tensor_copy(tensor.get(), 0, tensor.get(), offset, size), NRT_INVALID) << offset;
  }
  EXPECT_EQ(buffer, "--------");
  EXPECT_EQ(read(tensor.get()), "abcdefgh");
  EXPECT_EQ(nrt_tensor_read(tensor.get(), nullptr, 8, 0), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_read(tensor.get(), nullptr, 0, 1), NRT_INVALID);
}

TEST_F(Tensors, MemsetFillsWithTheLowByte) {
  const ScopedTensor tensor(6);
  EXPECT_EQ(nrt_tensor_memset(tensor.get(), 2, 0x100 + 'x', 3), NRT_SUCCESS);
  EXPECT_EQ(read(tensor.get()), std::string("\0\0xxx\0", 6));
}

TEST_F(Tensors, CopiesMayOverlap) {
  const ScopedTensor tensor(8);
  write(tensor.get(), "abcdefgh");
  EXPECT_EQ(nrt_tensor_copy(tensor.get(), 0, tensor.get(), 2, 6), NRT_SUCCESS);
  EXPECT_EQ(read(tensor.get()), "ababcdef");
  EXPECT_EQ(nrt_tensor_copy(tensor.get(), 2, tensor.get(), 0, 6), NRT_SUCCESS);
  EXPECT_EQ(read(tensor.get()), "abcdefef");
}

TEST_F(Tensors, CopiesStayOnOneCore) {
  const ScopedTensor here(4, 0), there(4, 1);
  EXPECT_EQ(nrt_tensor_copy(here.get(), 0, there.get(), 0, 4), NRT_INVALID);
  nrt_tensor_t* host = nullptr;
  ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 4, "host", &host), NRT_SUCCESS);
  write(here.get(), "1234");
  EXPECT_EQ(nrt_tensor_copy(here.get(), 0, host, 0, 4), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_copy(host, 0, there.get(), 0, 4), NRT_SUCCESS);
  EXPECT_EQ(read(there.get()), "1234");
  nrt_tensor_free(&host);
}

TEST_F(Tensors, SlicesShareMemoryAndOutliveTheirSource) {
  ScopedTensor whole(8);
  nrt_tensor_t *half = nullptr, *quarter = nullptr;
  ASSERT_EQ(nrt_tensor_allocate_slice(whole.get(), 4, 4, "half", &half), NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_allocate_slice(half, 2, 2, nullptr, &quarter), NRT_SUCCESS);
  write(whole.get(), "abcdefgh");
  EXPECT_EQ(read(half), "efgh");
  EXPECT_EQ(nrt_tensor_get_va(quarter), static_cast<char*>(nrt_tensor_get_va(whole.get())) + 6);
  nrt_tensor_free(whole.address());
  nrt_tensor_free(&half);
  EXPECT_EQ(read(quarter), "gh");
  EXPECT_EQ(nrt_tensor_get_size(quarter), 2u);
  nrt_tensor_free(&quarter);
}

TEST_F(Tensors, SlicesStayInsideTheirSource) {
  const ScopedTensor whole(8);
  nrt_tensor_t* slice = untouched();
  EXPECT_EQ(nrt_tensor_allocate_slice(whole.get(), 4, 5, "s", &slice), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_allocate_slice(whole.get(), 0, 0, "s", &slice), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_allocate_slice(whole.get(), SIZE_MAX, 2, "s", &slice), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_allocate_slice(nullptr, 0, 1, "s", &slice), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_tensor_allocate_slice(whole.get(), 0, 1, "s", nullptr), NRT_INVALID);
  EXPECT_EQ(slice, untouched());
}

TEST_F(Tensors, AttachedBuffersAreTheCallers) {
  std::array<char, 8> buffer{};
  nrt_tensor_t* tensor = nullptr;
  ASSERT_EQ(nrt_tensor_allocate_empty(nullptr, &tensor), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_get_va(tensor), nullptr);
  EXPECT_EQ(nrt_tensor_get_size(tensor), 0u);
  EXPECT_EQ(nrt_tensor_write(tensor, "x", 0, 1), NRT_INVALID);
  nrt_tensor_t* slice = nullptr;
  EXPECT_EQ(nrt_tensor_allocate_slice(tensor, 0, 1, "s", &slice), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_attach_buffer(tensor, nullptr, 8), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_attach_buffer(tensor, buffer.data(), 0), NRT_INVALID);
  ASSERT_EQ(nrt_tensor_attach_buffer(tensor, buffer.data(), buffer.size()), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_get_va(tensor), buffer.data());
  write(tensor, "zero", 2);
  EXPECT_EQ(std::string(buffer.data() + 2, 4), "zero");
  nrt_tensor_free(&tensor);
  EXPECT_EQ(std::string(buffer.data() + 2, 4), "zero");
}

TEST_F(Tensors, AttachingGivesTheMemoryBack) {
  const ScopedTensor tensor(1u << 20);  // all there is
  std::array<char, 8> buffer{};
  ASSERT_EQ(nrt_tensor_attach_buffer(tensor.get(), buffer.data(), buffer.size()), NRT_SUCCESS);
  EXPECT_EQ(allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 1u << 20), NRT_SUCCESS);
  int core = 7;
  EXPECT_EQ(nrt_tensor_get_lnc_index(tensor.get(), &core), NRT_SUCCESS);
  EXPECT_EQ(core, -1);
}

TEST_F(Tensors, AddressesOfLiveTensorsAreDisjoint) {
  std::vector<std::unique_ptr<ScopedTensor>> tensors;
  std::vector<std::pair<char*, uint64_t>> ranges;
  for (const size_t bytes : {1u, 64u, 100u, 5000u, 1u})
    tensors.push_back(std::make_unique<ScopedTensor>(bytes));
  std::vector<uint64_t> device_addresses;
  for (const auto& tensor : tensors) {
    auto* const address = static_cast<char*>(nrt_tensor_get_va(tensor->get()));
    ranges.emplace_back(address, nrt_tensor_get_size(tensor->get()));
    nrt_tensor_device_allocation_info_t info{0, 0, 9};
    ASSERT_EQ(nrt_tensor_get_device_allocation_info(tensor->get(), &info), NRT_SUCCESS);
    EXPECT_GE(info.size, nrt_tensor_get_size(tensor->get()));
    EXPECT_EQ(info.hbm_index, 0);
    device_addresses.push_back(info.physical_address / 4096);
  }
  std::ranges::sort(ranges);
  for (size_t i = 1; i < ranges.size(); ++i)
    EXPECT_LE(ranges[i - 1].first + ranges[i - 1].second, ranges[i].first);
  std::ranges::sort(device_addresses);
  EXPECT_EQ(std::ranges::adjacent_find(device_addresses), device_addresses.end());
  EXPECT_NE(device_addresses.front(), 0u);
}

TEST_F(Tensors, KnowTheirCore) {
  const ScopedTensor tensor(16, 1);
  int core = -7;
  EXPECT_EQ(nrt_tensor_get_lnc_index(tensor.get(), &core), NRT_SUCCESS);
  EXPECT_EQ(core, 1);
  EXPECT_EQ(nrt_tensor_get_lnc_index(tensor.get(), nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_get_lnc_index(nullptr, &core), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_tensor_get_device_allocation_info(tensor.get(), nullptr), NRT_INVALID);
}

}  // namespace
}  // namespace millrace::test
