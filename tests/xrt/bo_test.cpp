// Buffer objects, and what VART makes of them.
#include "xrt/xrt_bo.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "vart/vart_npu_tensor.hpp"
#include "vart/vart_videoframe.hpp"

namespace xrt {
namespace {

class BoTest : public ::testing::Test {
 protected:
  bo make(size_t size) { return bo(device_, size, bo::flags::host_only, 0); }

  const device device_{0};
};

vart::NpuTensorInfo tensor_info(size_t bytes) {
  vart::NpuTensorInfo info;
  info.name = "x";
  info.data_type = vart::DataType::INT8;
  info.memory_layout = vart::MemoryLayout::NC;
  info.shape = {1, static_cast<uint32_t>(bytes)};
  info.strides = {static_cast<uint32_t>(bytes), 1};
  info.size = info.size_in_bytes = bytes;
  return info;
}

TEST_F(BoTest, IsZeroAndHasSizeAndAddress) {
  bo memory = make(100);
  EXPECT_TRUE(memory);
  EXPECT_EQ(memory.size(), 100u);
  EXPECT_NE(memory.address(), 0u);
  const auto* bytes = memory.map<const uint8_t*>();
  EXPECT_EQ(std::vector<uint8_t>(bytes, bytes + 100), std::vector<uint8_t>(100));
}

TEST_F(BoTest, TakesTheFlagsOfBothInterfaces) {
  const hw_context context = [&] {
    device known = device_;
    return hw_context(known, known.register_xclbin(xclbin(std::vector<char>{'x'})));
  }();
  EXPECT_EQ(bo(device_, 8, XRT_BO_FLAGS_HOST_ONLY, 1).size(), 8u);
  EXPECT_EQ(bo(device_, 8, 1).size(), 8u);
  EXPECT_EQ(bo(context, 8, bo::flags::normal, 0).size(), 8u);
  EXPECT_EQ(bo(context, 8, XRT_BO_FLAGS_CACHEABLE, 0).size(), 8u);
  EXPECT_EQ(bo(context, 8, 0).size(), 8u);
}

TEST_F(BoTest, CopiesAndMovesShareTheMemory) {
  bo first = make(8);
  bo copy = first;
  first.map<int*>()[0] = 5;
  EXPECT_EQ(copy.map<int*>()[0], 5);
  bo moved = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): what is left is empty
  EXPECT_EQ(moved.address(), copy.address());
  bo assigned;
  EXPECT_TRUE(!assigned);
  assigned = moved;
  EXPECT_EQ(assigned.map(), copy.map());
  assigned = bo();
  EXPECT_FALSE(assigned);
}

TEST_F(BoTest, TensorsFindItWhereItWasMovedTo) {
  bo first = make(16);
  bo moved = std::move(first);
  bo assigned = make(16);
  const uint64_t address = moved.address();
  assigned = std::move(moved);
  const vart::NpuTensor tensor(tensor_info(16), &assigned, vart::MemoryType::XRT_BO);
  EXPECT_EQ(tensor.get_physical_address(), address);
  std::swap(first, assigned);
  EXPECT_EQ(first.address(), address);
}

TEST_F(BoTest, VectorsOfThemMayGrow) {
  std::vector<bo> objects;
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < 20; ++i) {
    objects.push_back(make(16));
    addresses.push_back(objects.back().address());
  }
  for (size_t i = 0; i < objects.size(); ++i) EXPECT_EQ(objects[i].address(), addresses[i]);
}

TEST_F(BoTest, ReadsAndWritesRanges) {
  bo memory = make(4);
  memory.write("abcd");
  memory.write("xy", 2, 1);
  memory.sync(XCL_BO_SYNC_BO_TO_DEVICE);
  memory.sync(XCL_BO_SYNC_BO_FROM_DEVICE, 2, 2);
  char text[4];
  memory.read(text);
  EXPECT_EQ(std::string(text, 4), "axyd");
  memory.read(text, 1, 3);
  EXPECT_EQ(text[0], 'd');
  bo other = make(4);
  other.copy(memory);
  other.copy(memory, 2, 0, 2);
  other.read(text);
  EXPECT_EQ(std::string(text, 4), "axax");
}

TEST_F(BoTest, IsSharedThroughItsExportHandle) {
  bo memory = make(64);
  const bo::export_handle handle = memory.export_buffer();
  bo imported(device_, handle);
  close(handle);
  memory.map<uint8_t*>()[63] = 3;
  EXPECT_EQ(imported.map<uint8_t*>()[63], 3);
}

TEST_F(BoTest, ConsistsOfWholePagesAsItsImportReports) {
  constexpr size_t kPage = 4096;
  bo memory = make(1000);
  EXPECT_EQ(memory.size(), 1000u);
  EXPECT_THROW(memory.write(std::vector<char>(1001).data(), 1001, 0), std::invalid_argument);
  const bo::export_handle handle = memory.export_buffer();
  bo imported(device_, handle);
  close(handle);
  EXPECT_EQ(imported.size(), kPage);
  memory.map<uint8_t*>()[kPage - 1] = 3;
  EXPECT_EQ(imported.map<uint8_t*>()[kPage - 1], 3);
  EXPECT_EQ(bo(memory, 1000, 0).size(), 1000u);
}

TEST_F(BoTest, PartsShareTheMemoryAndKeepItAlive) {
  bo whole = make(16);
  whole.write("0123456789abcdef");
  bo part(whole, 4, 10);
  EXPECT_EQ(part.address(), whole.address() + 10);
  whole = bo();
  EXPECT_EQ(std::string(part.map<char*>(), 4), "abcd");
  EXPECT_THROW(bo(part, 1, 0), std::invalid_argument);
  EXPECT_THROW(part.export_buffer(), std::runtime_error);
}

TEST_F(BoTest, WrapsTheProgramsMemory) {
  std::vector<char> bytes(32);
  bo memory(device_, bytes.data(), bytes.size(), 0);
  EXPECT_EQ(memory.map(), bytes.data());
  EXPECT_THROW(memory.export_buffer(), std::runtime_error);
}

TEST_F(BoTest, SizesAndRangesThatCannotBeAreRefused) {
  constexpr size_t kMost = std::numeric_limits<size_t>::max();
  EXPECT_THROW(make(0), std::invalid_argument);
  EXPECT_THROW(make(kMost), std::runtime_error);
  bo memory = make(8);
  char text[8] = {};
  EXPECT_THROW(memory.write(text, 4, 5), std::invalid_argument);
  EXPECT_THROW(memory.read(text, kMost, 1), std::invalid_argument);
  EXPECT_THROW(memory.sync(XCL_BO_SYNC_BO_TO_DEVICE, 9, 0), std::invalid_argument);
  EXPECT_THROW(memory.copy(make(16)), std::invalid_argument);
  EXPECT_THROW(bo(memory, 8, 1), std::invalid_argument);
  EXPECT_THROW(bo(device_, -1), std::invalid_argument);
}

TEST_F(BoTest, AnEmptyOneHasNoMemory) {
  bo empty;
  EXPECT_THROW(empty.size(), std::runtime_error);
  EXPECT_THROW(empty.map(), std::runtime_error);
  EXPECT_FALSE(bo(empty));
}

TEST_F(BoTest, ATensorUsesItsMemory) {
  bo memory = make(16);
  vart::NpuTensor tensor(tensor_info(16), &memory, vart::MemoryType::XRT_BO);
  EXPECT_EQ(tensor.get_virtual_address(), memory.map());
  EXPECT_EQ(tensor.get_physical_address(), memory.address());
  EXPECT_EQ(tensor.get_buffer(), &memory);
  EXPECT_THROW(vart::NpuTensor(tensor_info(17), &memory, vart::MemoryType::XRT_BO),
               std::runtime_error);
}

TEST_F(BoTest, ATensorKeepsItsMemoryAlive) {
  bo memory = make(4);
  memory.write("abcd");
  const vart::NpuTensor tensor(tensor_info(4), &memory, vart::MemoryType::XRT_BO);
  memory = bo();
  EXPECT_EQ(std::memcmp(tensor.get_virtual_address(), "abcd", 4), 0);
}

TEST_F(BoTest, OnesThatAreGoneAreNoTensors) {
  bo memory = make(4);
  memory = bo();
  EXPECT_THROW(vart::NpuTensor(tensor_info(4), &memory, vart::MemoryType::XRT_BO),
               std::runtime_error);
}

TEST_F(BoTest, AFrameUsesOneForEachPlane) {
  bo luma = make(16);
  bo chroma = make(8);
  std::vector<bo*> objects = {&luma, &chroma};
  vart::VideoInfo info{};
  info.width = info.height = 4;
  info.fmt = vart::VideoFormat::Y_UV8_420;
  const auto device = vart::Device::get_device_hdl(0, "");
  vart::VideoFrame frame(vart::VideoFrameImplType::XRT, uint8_t{0}, objects, info, device);
  const vart::VideoFrameMapInfo& mapped = frame.map(vart::DataMapFlags::READ);
  EXPECT_EQ(mapped.planes[0].data, luma.map());
  EXPECT_EQ(mapped.planes[1].data, chroma.map());
  EXPECT_EQ(mapped.planes[1].phy_addr, chroma.address());
  EXPECT_LT(frame.export_buffer(), 0);
  std::swap(objects[0], objects[1]);
  EXPECT_THROW(vart::VideoFrame(vart::VideoFrameImplType::XRT, uint8_t{0}, objects, info, device),
               std::invalid_argument);
}

TEST_F(BoTest, AFrameUsesOneForAllPlanes) {
  bo picture = make(24);
  std::vector<bo*> objects = {&picture};
  vart::VideoInfo info{};
  info.width = info.height = 4;
  info.fmt = vart::VideoFormat::Y_UV8_420;
  vart::VideoFrame frame(vart::VideoFrameImplType::XRT, uint8_t{0}, objects, info,
                         vart::Device::get_device_hdl(0, ""));
  EXPECT_EQ(frame.map(vart::DataMapFlags::READ).planes[1].data, picture.map<uint8_t*>() + 16);
  const int fd = frame.export_buffer();
  EXPECT_GE(fd, 0);
  close(fd);
}

}  // namespace
}  // namespace xrt
