// Kernels by their face; tests/vartx/kernels.c is the library of kernels.
#include "vart/vart_plkernel.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/log_capture.h"
#include "tests/support/temporary_directory.h"
#include "vart/vart_memory.hpp"

namespace vart {
namespace {

using ::testing::HasSubstr;

enum WaitResult { kSucceeded, kFailed, kNotEnded, kNotStarted };

constexpr const char* kBeatBytes = "MILLRACE_PL_BEAT_BYTES";
constexpr const char* kLibrary = "MILLRACE_PL_KERNELS";

class PLKernelTest : public ::testing::Test {
 protected:
  ~PLKernelTest() override {
    unsetenv(kBeatBytes);
    unsetenv(kLibrary);
  }

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

std::vector<uint32_t> ramp(size_t words) {
  std::vector<uint32_t> values(words);
  std::iota(values.begin(), values.end(), 4u);
  return values;
}

TEST_F(PLKernelTest, PassThroughCopiesBeatsOf64Bytes) {
  PLKernel copy = kernel("pass_through", "{}");
  Memory in = words(ramp(48));
  Memory out = words(std::vector<uint32_t>(48, 9));
  copy.process(address(in), address(out), 2u);
  EXPECT_EQ(copy.wait(0), kSucceeded);
  std::vector<uint32_t> expected = ramp(48);
  std::fill(expected.begin() + 32, expected.end(), 9u);
  EXPECT_EQ(read(out), expected);
}

// Programs for older bitstreams count words, so that their buffers are too small for as many beats.
TEST_F(PLKernelTest, PassThroughCopiesWordsWhereSoManyBeatsDoNotFit) {
  const millrace::test::LogCapture log;
  PLKernel copy = kernel("pass_through", "{}");
  Memory in = words(ramp(24));
  for (int round = 0; round < 2; ++round) {
    Memory out = words(std::vector<uint32_t>(24, 9));
    copy.process(address(in), address(out), 24u);
    EXPECT_EQ(copy.wait(0), kSucceeded);
    EXPECT_EQ(read(out), ramp(24));
  }
  EXPECT_EQ(log.count("pass_through copies 32-bit words"), 1u) << "it is said once";
}

TEST_F(PLKernelTest, TheEnvironmentStatesTheSizeOfABeat) {
  PLKernel copy = kernel("pass_through", "{}");
  Memory in = words(ramp(32));
  for (const auto& [bytes, copied] : {std::pair("4", 2), {"16", 8}, {"64", 32}}) {
    setenv(kBeatBytes, bytes, 1);
    Memory out = words(std::vector<uint32_t>(32, 9));
    copy.process(address(in), address(out), 2u);
    EXPECT_EQ(copy.wait(0), kSucceeded) << bytes;
    std::vector<uint32_t> expected = ramp(32);
    std::fill(expected.begin() + copied, expected.end(), 9u);
    EXPECT_EQ(read(out), expected) << bytes;
  }
}

TEST_F(PLKernelTest, AStatedBeatIsNoWordEvenWhereSoManyDoNotFit) {
  const millrace::test::LogCapture log;
  setenv(kBeatBytes, "64", 1);
  PLKernel copy = kernel("pass_through", "{}");
  Memory in = words(ramp(24)), out = words(ramp(24));
  copy.process(address(in), address(out), 24u);
  EXPECT_EQ(copy.wait(0), kFailed);
  EXPECT_EQ(log.count("\"in_r\" has 96 bytes, but 24 beats of 64 bytes need 1536"), 1u);
}

TEST_F(PLKernelTest, BeatsThatMakeNoSenseFailTheRun) {
  PLKernel copy = kernel("pass_through", "{}");
  Memory in = words(ramp(16)), out = words(ramp(16));
  for (const char* wrong : {"0", "-4", "4097", "4x", "word"}) {
    const millrace::test::LogCapture log;
    setenv(kBeatBytes, wrong, 1);
    copy.process(address(in), address(out), 1u);
    EXPECT_EQ(copy.wait(0), kFailed) << wrong;
    EXPECT_EQ(log.count("it takes a number of bytes from 1 to 4096"), 1u) << wrong;
  }
}

TEST_F(PLKernelTest, PassThroughHasTheArgumentsOfTheBoard) {
  std::vector<ArgumentInfo> arguments;
  kernel("pass_through", "{}").get_config(arguments);
  ASSERT_EQ(arguments.size(), 3u);
  EXPECT_EQ(arguments[0].arg_name, "in_r");
  EXPECT_EQ(arguments[0].arg_type, "non scalar");
  EXPECT_EQ(arguments[0].arg_data_type, "void*");
  EXPECT_EQ(arguments[0].mem_index, 3);
  EXPECT_EQ(arguments[1].arg_name, "out_r");
  EXPECT_EQ(arguments[2].arg_name, "size");
  EXPECT_EQ(arguments[2].arg_type, "scalar");
  EXPECT_EQ(arguments[2].arg_size, 0u);
  EXPECT_EQ(arguments[2].mem_index, -1);
}

TEST_F(PLKernelTest, AKernelOfALibraryReplacesTheBuiltInOneOfItsName) {
  const std::string json = "{\"kernel-library\": \"" MILLRACE_REPLACING_KERNELS "\"}";
  PLKernel inverting = kernel("pass_through", json);
  Memory in = words({0, 1}), out = words({7, 7});
  inverting.process(address(in), address(out), 4u);
  EXPECT_EQ(inverting.wait(0), kSucceeded);
  EXPECT_EQ(read(out), (std::vector<uint32_t>{0xffffffffu, 7}));
}

// The same call inverts 4 bytes and copies 4 beats.
TEST_F(PLKernelTest, AKernelOfTheEnvironmentReplacesTheBuiltInOne) {
  Memory in = words(ramp(64)), out = words(std::vector<uint32_t>(64, 9));
  ASSERT_EQ(setenv(kLibrary, MILLRACE_REPLACING_KERNELS, 1), 0);
  PLKernel inverting = kernel("pass_through", "{}");
  ASSERT_EQ(unsetenv(kLibrary), 0);
  PLKernel copying = kernel("pass_through", "{}");

  inverting.process(address(in), address(out), 4u);
  EXPECT_EQ(inverting.wait(0), kSucceeded);
  std::vector<uint32_t> expected(64, 9);
  expected[0] = ~4u;
  EXPECT_EQ(read(out), expected);

  copying.process(address(in), address(out), 4u);
  EXPECT_EQ(copying.wait(0), kSucceeded);
  EXPECT_EQ(read(out), ramp(64));
}

TEST_F(PLKernelTest, DescribesItsArguments) {
  std::vector<ArgumentInfo> arguments;
  kernel("fill").get_config(arguments);
  ASSERT_EQ(arguments.size(), 3u);
  EXPECT_EQ(arguments[0].arg_name, "out");
  EXPECT_EQ(arguments[0].arg_type, "non scalar");
  EXPECT_EQ(arguments[0].arg_data_type, "unsigned int*");
  EXPECT_EQ(arguments[0].arg_size, 8u);
  EXPECT_EQ(arguments[0].mem_index, 1);
  EXPECT_EQ(arguments[2].arg_name, "value");
  EXPECT_EQ(arguments[2].arg_type, "scalar");
  EXPECT_EQ(arguments[2].arg_index, 2u);
  EXPECT_EQ(arguments[2].arg_size, 0u);
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

TEST_F(PLKernelTest, ARunLastsAsLongAsItsModelStates) {
  Memory memory = words({0});
  {
    PLKernel endless = kernel("endless");
    endless.process(address(memory));
    auto* done = reinterpret_cast<const std::atomic<uint32_t>*>(memory.map(DataMapFlags::READ));
    while (done->load() == 0) std::this_thread::yield();
    EXPECT_EQ(endless.wait(1), kNotEnded);
  }
  EXPECT_EQ(read(memory), std::vector<uint32_t>{1}) << "and need not be waited for";
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
  EXPECT_EQ(log.count("\"in_r\" has 8 bytes, but 2 beats of 64 bytes need 128"), 1u);
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
  EXPECT_THAT(refused(nullptr),
              HasSubstr("\"out_r\": the device address 0x0 is in no live memory"));
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
  EXPECT_THAT(
      reason([&] { kernel("scale"); }),
      HasSubstr("no software kernel \"scale\"; there are: fill await endless pass_through"));
  EXPECT_THROW(kernel("fill", R"({"kernel-library": "/nowhere/kernels.so"})"), std::runtime_error);
  EXPECT_THROW(kernel("fill", R"({"kernel-library": "libm.so.6"})"), std::runtime_error);
  EXPECT_THROW(kernel("fill", "{"), std::invalid_argument);
}

TEST_F(PLKernelTest, TheEnvironmentNamesALibraryToo) {
  ASSERT_EQ(setenv(kLibrary, MILLRACE_TEST_KERNELS, 1), 0);
  std::vector<ArgumentInfo> arguments;
  kernel("await", "").get_config(arguments);
  EXPECT_EQ(arguments.size(), 1u);
  ASSERT_EQ(unsetenv(kLibrary), 0);
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
