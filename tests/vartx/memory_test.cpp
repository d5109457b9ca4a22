#include "vart/vart_memory.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/temporary_directory.h"

namespace vart {
namespace {

using ::testing::HasSubstr;

class MemoryTest : public ::testing::Test {
 protected:
  Memory allocated(size_t size) { return Memory(MemoryImplType::XRT, size, uint8_t{0}, device_); }
  Memory imported(int fd, size_t size) { return Memory(MemoryImplType::XRT, fd, size, device_); }

  const std::shared_ptr<Device> device_ = Device::get_device_hdl(0, "");
};

template <class Make>
std::string reason(Make make) {
  try {
    make();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "taken";
}

uint8_t* writable(Memory& memory) {
  return const_cast<uint8_t*>(memory.map(DataMapFlags::WRITE));
}

TEST_F(MemoryTest, HasTheSizeAndIsZero) {
  Memory memory = allocated(1000);
  EXPECT_EQ(memory.get_size(), 1000u);
  const uint8_t* bytes = memory.map(DataMapFlags::READ);
  EXPECT_EQ(std::vector<uint8_t>(bytes, bytes + 1000), std::vector<uint8_t>(1000));
}

TEST_F(MemoryTest, CopiesShareTheBytes) {
  Memory memory = allocated(8);
  Memory copy = memory;
  writable(memory)[3] = 42;
  EXPECT_EQ(copy.map(DataMapFlags::READ)[3], 42);
  EXPECT_EQ(copy.get_pimpl_handle(), memory.get_pimpl_handle());
}

TEST_F(MemoryTest, AnyBankIsAccepted) {
  Memory memory(MemoryImplType::XRT, size_t{8}, uint8_t{255}, device_);
  EXPECT_NE(memory.map(DataMapFlags::NONE), nullptr);
}

TEST_F(MemoryTest, MapAndUnmapNeedNoOrder) {
  Memory memory = allocated(8);
  memory.unmap();
  const uint8_t* first = memory.map(DataMapFlags::READ);
  EXPECT_EQ(memory.map(DataMapFlags::WRITE), first);
  memory.unmap();
  memory.unmap();
  EXPECT_EQ(memory.map(static_cast<DataMapFlags>(3)), first);
}

TEST_F(MemoryTest, OnlyDeviceMemoryHasAnAddress) {
  EXPECT_NE(allocated(8).get_physical_addr(), 0u);
  EXPECT_EQ(Memory(MemoryImplType::NON_CMA, size_t{8}, uint8_t{0}, device_).get_physical_addr(),
            0u);
}

TEST_F(MemoryTest, IsSharedThroughItsDescriptor) {
  Memory memory = allocated(4096);
  const int fd = memory.export_buffer();
  ASSERT_GE(fd, 0);
  Memory other = imported(fd, 4096);
  close(fd);
  writable(memory)[7] = 9;
  EXPECT_EQ(other.map(DataMapFlags::READ)[7], 9);
}

TEST_F(MemoryTest, EveryExportIsANewDescriptorOfTheSameMemory) {
  Memory memory = allocated(16);
  const int first = memory.export_buffer();
  const int second = memory.export_buffer();
  EXPECT_NE(first, second);
  close(first);
  Memory other = imported(second, 16);
  close(second);
  writable(other)[0] = 5;
  EXPECT_EQ(memory.map(DataMapFlags::READ)[0], 5);
}

TEST_F(MemoryTest, OutlivesTheObjectThatExportedIt) {
  int fd = -1;
  {
    Memory memory = allocated(16);
    writable(memory)[1] = 7;
    fd = memory.export_buffer();
  }
  Memory other = imported(fd, 16);
  close(fd);
  EXPECT_EQ(other.map(DataMapFlags::READ)[1], 7);
}

TEST_F(MemoryTest, WrapsPointersWithoutACopy) {
  std::vector<uint8_t> bytes(32);
  Memory memory(MemoryImplType::NON_CMA, bytes.data(), bytes.size(), device_);
  EXPECT_EQ(memory.map(DataMapFlags::READ), bytes.data());
  EXPECT_LT(memory.export_buffer(), 0);
}

TEST_F(MemoryTest, HostMemoryHasNoDescriptor) {
  EXPECT_LT(Memory(MemoryImplType::NON_CMA, size_t{8}, uint8_t{0}, device_).export_buffer(), 0);
}

TEST_F(MemoryTest, ReadsADescriptorThatIsOpenForReading) {
  const millrace::test::TemporaryDirectory directory;
  const std::string path = directory.file("tensor.bin");
  std::ofstream(path) << "tensor";
  const int fd = open(path.c_str(), O_RDONLY);
  Memory memory = imported(fd, 6);
  close(fd);
  EXPECT_EQ(std::memcmp(memory.map(DataMapFlags::READ), "tensor", 6), 0);
  EXPECT_THAT(reason([&] { memory.map(DataMapFlags::WRITE); }), HasSubstr("reading only"));
}

TEST_F(MemoryTest, BadDescriptorsAreRefusedWithTheReason) {
  const int fd = memfd_create("short", 0);
  ASSERT_EQ(ftruncate(fd, 100), 0);
  EXPECT_THAT(reason([&] { imported(fd, 101); }), HasSubstr("101"));
  close(fd);
  EXPECT_THAT(reason([&] { imported(fd, 100); }), HasSubstr("descriptor"));
  EXPECT_THROW(imported(-1, 100), std::exception);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_THROW(imported(ends[0], 100), std::exception);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(MemoryTest, ImpossibleSizesAreRefused) {
  EXPECT_THROW(allocated(0), std::invalid_argument);
  EXPECT_THROW(allocated(std::numeric_limits<size_t>::max()), std::runtime_error);
  EXPECT_THROW(Memory(MemoryImplType::XRT, nullptr, 8, device_), std::invalid_argument);
  EXPECT_THROW(Memory(static_cast<MemoryImplType>(9), size_t{8}, uint8_t{0}, device_),
               std::invalid_argument);
  EXPECT_THROW(Memory(std::shared_ptr<MemoryImplBase>()), std::invalid_argument);
}

}  // namespace
}  // namespace vart
