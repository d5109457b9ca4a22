// Kernels by their face; tests/vartx/kernels.c is the library of kernels.
#include "vart/vart_plkernel.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/log_capture.h"
#include "tests/support/temporary_directory.h"
#include "vart/vart_memory.hpp"

namespace vart {
namespace {

using ::testing::HasSubstr;

enum WaitResult { kSucceeded, kFailed, kNotEnded, kNotStarted };

class PLKernelTest : public ::testing::Test {
 protected:
  PLKernel kernel(const std::string& name,
                  std::string json = "{\"kernel-library\": \"" MILLRACE_TEST_KERNELS "\"}") {
    return PLKernel(PLKernelImplType::PL_KERNEL_XRT, name, json, device_);
  }
  Memory words(std::vector<uint32_t> values) {
    const size_t bytes = values.size() * sizeof(uint32_t);
    Memory memory(MemoryImplType::XRT, bytes, uint8_t{0}, device_);
    std::memcpy(const_cast<uint8_t*>(memory.map(DataMapFlags::WRITE)), values.data(), bytes);
    memory.unmap();
    return memory;
  }
  std::vector<uint32_t> read(Memory& memory) {
    std::vector<uint32_t> values(memory.get_size() / sizeof(uint32_t));
    std::memcpy(values.data(), memory.map(DataMapFlags::READ), memory.get_size());
    return values;
  }

  const std::shared_ptr<Device> device_ = Device::get_device_hdl(1, "");
};

void* address(Memory& memory) {
  return reinterpret_cast<void*>(memory.get_physical_addr());
}

TEST_F(PLKernelTest, PassThroughCopiesWords) {
  std::string json;
  PLKernel kernel(PLKernelImplType::PL_KERNEL_XRT, "pass_through", json, device_);
  Memory in = words({1, 2, 3, 4});
  Memory out = words({0, 0, 0, 9});
  kernel.process(address(in), address(out), 3u);
  EXPECT_EQ(kernel.wait(0), kSucceeded);
  EXPECT_EQ(read(out), (std::vector<uint32_t>{1, 2, 3, 9}));
}

TEST_F(PLKernelTest, DescribesItsArguments) {
  std::vector<ArgumentInfo> arguments;
  kernel("fill").get_config(arguments);
  ASSERT_EQ(arguments.size(), 3u);
  EXPECT_EQ(arguments[0].arg_name, "out");
  EXPECT_EQ(arguments[0].arg_type, "global");
  EXPECT_EQ(arguments[0].arg_data_type, "unsigned int*");
  EXPECT_EQ(arguments[0].arg_size, 8u);
  EXPECT_EQ(arguments[0].mem_index, 1);
  EXPECT_EQ(arguments[2].arg_name, "value");
  EXPECT_EQ(arguments[2].arg_type, "scalar");
  EXPECT_EQ(arguments[2].arg_index, 2u);
  EXPECT_EQ(arguments[2].arg_size, 4u);
}

TEST_F(PLKernelTest, RunsKernelsOfALibraryAgainAndAgain) {
  PLKernel fill = kernel("fill:{fill_1}");
  Memory out = words({0, 0});
  fill.process(out.get_physical_addr(), 2, 1.0f);
  EXPECT_EQ(fill.wait(0), kSucceeded);
  fill.process(out.get_physical_addr() + 4, 1, -1);
  EXPECT_EQ(fill.wait(0), kSucceeded);
  EXPECT_EQ(read(out), (std::vector<uint32_t>{0x3f800000u, 0xffffffffu}));
}

TEST_F(PLKernelTest, WaitGivesUpAtItsTimeoutAndMayBeRepeated) {
  PLKernel await = kernel("await");
  EXPECT_EQ(await.wait(1), kNotStarted);
  Memory memory = words({0});
  await.process(address(memory));
  EXPECT_EQ(await.wait(1), kNotEnded);
  auto* flag = reinterpret_cast<std::atomic<uint32_t>*>(
      const_cast<uint8_t*>(memory.map(DataMapFlags::WRITE)));
  flag->store(1);
  EXPECT_EQ(await.wait(0), kSucceeded);
  EXPECT_EQ(await.wait(0), kSucceeded);
}

TEST_F(PLKernelTest, ARunKeepsItsMemoryAlive) {
  PLKernel await = kernel("await");
  Memory view = [&] {
    Memory memory = words({0});
    await.process(address(memory));
    const int fd = memory.export_buffer();
    Memory other(MemoryImplType::XRT, fd, memory.get_size(), device_);
    close(fd);
    return other;
  }();
  EXPECT_EQ(await.wait(1), kNotEnded);
  reinterpret_cast<std::atomic<uint32_t>*>(const_cast<uint8_t*>(view.map(DataMapFlags::WRITE)))
      ->store(1);
  EXPECT_EQ(await.wait(0), kSucceeded);
}

TEST_F(PLKernelTest, AKernelThatFailsSaysWhyInTheLog) {
  const millrace::test::LogCapture log;
  PLKernel fill = kernel("fill");
  Memory out = words({7});
  fill.process(address(out), 2u, 0);
  EXPECT_EQ(fill.wait(0), kFailed);
  EXPECT_EQ(log.count("there is no room for 2 words"), 1u);
  EXPECT_EQ(read(out), std::vector<uint32_t>{7});
}

TEST_F(PLKernelTest, PassThroughLeavesBuffersThatAreTooSmallAlone) {
  const millrace::test::LogCapture log;
  PLKernel copy = kernel("pass_through");
  Memory in = words({1, 2});
  Memory out = words({7});
  copy.process(address(in), address(out), 2u);
  EXPECT_EQ(copy.wait(0), kFailed);
  EXPECT_EQ(log.count("\"out\" has 4 bytes, but needs 8"), 1u);
  copy.process(address(in), address(out), -1);
  EXPECT_EQ(copy.wait(0), kFailed);
  EXPECT_EQ(read(out), std::vector<uint32_t>{7});
}

template <class Call>
std::string reason(Call call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "taken";
}

TEST_F(PLKernelTest, AddressesInNoLiveMemoryAreRefused) {
  PLKernel copy = kernel("pass_through");
  Memory in = words({1});
  const auto refused = [&](auto out) {
    return reason([&] { copy.process(address(in), out, 1u); });
  };
  EXPECT_THAT(refused(nullptr), HasSubstr("\"out\": the device address 0x0 is in no live memory"));
  EXPECT_THAT(refused(&in), HasSubstr("is in no live memory"));
  EXPECT_THAT(refused(in.get_physical_addr() + 4), HasSubstr("is in no live memory"));
  const uint64_t gone = words({1}).get_physical_addr();
  EXPECT_THAT(refused(gone), HasSubstr("is in no live memory"));
  EXPECT_EQ(copy.wait(0), kNotStarted);
}

TEST_F(PLKernelTest, OutputsThatCanOnlyBeReadAreRefused) {
  const millrace::test::TemporaryDirectory directory;
  const std::string path = directory.file("words.bin");
  std::ofstream(path) << "word";
  const int fd = open(path.c_str(), O_RDONLY);
  Memory file(MemoryImplType::XRT, fd, 4, device_);
  close(fd);
  PLKernel copy = kernel("pass_through");
  EXPECT_THAT(reason([&] { copy.process(address(file), address(file), 1u); }),
              HasSubstr("is read-only"));
}

TEST_F(PLKernelTest, AWrongNumberOfArgumentsIsRefused) {
  PLKernel copy = kernel("pass_through");
  EXPECT_THAT(reason([&] { copy.process(1u); }), HasSubstr("takes 3 arguments, but 1 were passed"));
}

TEST_F(PLKernelTest, UnknownKernelsAndLibrariesAreRefused) {
  EXPECT_THAT(reason([&] { kernel("scale"); }),
              HasSubstr("no software kernel \"scale\"; there are: pass_through fill await"));
  EXPECT_THROW(kernel("fill", R"({"kernel-library": "/nowhere/kernels.so"})"), std::runtime_error);
  EXPECT_THROW(kernel("fill", R"({"kernel-library": "libm.so.6"})"), std::runtime_error);
  EXPECT_THROW(kernel("fill", "{"), std::invalid_argument);
}

TEST_F(PLKernelTest, TheEnvironmentNamesALibraryToo) {
  ASSERT_EQ(setenv("MILLRACE_PL_KERNELS", MILLRACE_TEST_KERNELS, 1), 0);
  std::vector<ArgumentInfo> arguments;
  kernel("await", "").get_config(arguments);
  EXPECT_EQ(arguments.size(), 1u);
  ASSERT_EQ(unsetenv("MILLRACE_PL_KERNELS"), 0);
  EXPECT_THROW(kernel("await", ""), std::invalid_argument);
}

TEST_F(PLKernelTest, OtherConfigurationsAreRefused) {
  PLKernel copy = kernel("pass_through");
  int number = 0;
  EXPECT_THROW(copy.get_config(number), std::invalid_argument);
  EXPECT_THROW(copy.set_config(number), std::invalid_argument);
}

}  // namespace
}  // namespace vart
