// Kernels by the interface of XRT; tests/vartx/kernels.c is the library of kernels.
#include "xrt/xrt_kernel.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "tests/support/log_capture.h"
#include "tests/support/run_in_child.h"
#include "tests/support/temporary_directory.h"
#include "xrt/experimental/xrt_xclbin.h"

namespace xrt {
namespace {

class KernelTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("MILLRACE_PL_KERNELS", MILLRACE_TEST_KERNELS, 1); }
  static void TearDownTestSuite() { unsetenv("MILLRACE_PL_KERNELS"); }

  bo words(const kernel& kernel, int argument, std::vector<uint32_t> values) {
    bo memory(device_, values.size() * sizeof(uint32_t), bo::flags::normal,
              kernel.group_id(argument));
    memory.write(values.data());
    memory.sync(XCL_BO_SYNC_BO_TO_DEVICE);
    return memory;
  }
  std::vector<uint32_t> read(bo& memory) {
    memory.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
    std::vector<uint32_t> values(memory.size() / sizeof(uint32_t));
    memory.read(values.data());
    return values;
  }

  device device_{1};
  const uuid id_ = device_.load_xclbin(xclbin(std::vector<char>{'x'}));
};

TEST_F(KernelTest, RunsWithBufferObjectsAndNumbers) {
  kernel copy(device_, id_, "pass_through");
  bo in = words(copy, 0, {1, 2, 3});
  bo out = words(copy, 1, {0, 0, 0});
  run first = copy(in, out, 2);
  EXPECT_EQ(first.wait(), ERT_CMD_STATE_COMPLETED);
  EXPECT_EQ(first.state(), ERT_CMD_STATE_COMPLETED);
  EXPECT_EQ(read(out), (std::vector<uint32_t>{1, 2, 0}));
}

TEST_F(KernelTest, ARunKeepsItsArgumentsFromStartToStart) {
  const kernel copy(hw_context(device_, id_), "pass_through:{pass_through_1}");
  bo in = words(copy, 0, {1, 2});
  bo out = words(copy, 1, {0, 0});
  run again(copy);
  EXPECT_EQ(again.state(), ERT_CMD_STATE_NEW);
  again.set_arg(0, in);
  again.set_arg(1, out.address() + 4);
  EXPECT_THROW(again.start(), std::invalid_argument) << "an argument is missing";
  again.set_arg(2, 1u);
  again.start();
  EXPECT_EQ(again.wait(std::chrono::milliseconds::max()), ERT_CMD_STATE_COMPLETED);
  EXPECT_EQ(read(out), (std::vector<uint32_t>{0, 1}));
  in.map<uint32_t*>()[0] = 9;
  again.start();
  EXPECT_EQ(again.wait(), ERT_CMD_STATE_COMPLETED);
  EXPECT_EQ(read(out), (std::vector<uint32_t>{0, 9}));
}

TEST_F(KernelTest, TakesPartsWhoseWholeIsGone) {
  kernel copy(device_, id_, "pass_through");
  bo whole = words(copy, 0, {1, 2, 3});
  bo first(whole, 4, 0);
  bo last(whole, 4, 8);
  whole = bo();
  EXPECT_EQ(copy(last, first, 1).wait(), ERT_CMD_STATE_COMPLETED);
  EXPECT_EQ(first.map<uint32_t*>()[0], 3u);
}

TEST_F(KernelTest, WaitGivesUpAtItsTimeout) {
  const kernel await(device_, id_, "await");
  bo flag = words(await, 0, {0});
  run waiting(await);
  EXPECT_EQ(waiting.wait(), ERT_CMD_STATE_NEW);
  waiting(flag);
  EXPECT_EQ(waiting.wait(1u), ERT_CMD_STATE_TIMEOUT);
  EXPECT_EQ(waiting.state(), ERT_CMD_STATE_RUNNING);
  EXPECT_THROW(waiting.start(), std::invalid_argument);
  flag.map<std::atomic<uint32_t>*>()->store(1);
  EXPECT_EQ(waiting.wait(), ERT_CMD_STATE_COMPLETED);
}

TEST_F(KernelTest, AFailureIsAStateAndALineInTheLog) {
  const millrace::test::LogCapture log;
  kernel fill(device_, id_, "fill");
  bo out = words(fill, 0, {7});
  EXPECT_EQ(fill(out, 2, 0.5f).wait(), ERT_CMD_STATE_ERROR);
  EXPECT_EQ(log.count("there is no room for 2 words"), 1u);
}

TEST_F(KernelTest, WaitInAForkedChildFailsAndTheLogSaysWhy) {
  const kernel await(device_, id_, "await");
  bo flag = words(await, 0, {0});
  run waiting(await);
  waiting(flag);
  EXPECT_EQ(millrace::test::run_in_child([&] {
              const millrace::test::LogCapture log;
              EXPECT_EQ(waiting.wait(), ERT_CMD_STATE_ERROR);
              EXPECT_EQ(log.count("forked"), 1u);
              return HasFailure() ? 1 : 0;
            }),
            0);
  flag.map<std::atomic<uint32_t>*>()->store(1);
  EXPECT_EQ(waiting.wait(), ERT_CMD_STATE_COMPLETED);
}

TEST_F(KernelTest, WhatCannotRunIsRefused) {
  kernel copy(device_, id_, "pass_through");
  bo in = words(copy, 0, {1});
  const uint64_t gone = words(copy, 1, {1}).address();
  EXPECT_THROW(copy(in, gone, 1), std::invalid_argument);
  EXPECT_THROW(copy(in, in, 1, 1), std::invalid_argument);
  EXPECT_THROW(copy.group_id(2), std::invalid_argument) << "a number has no group";
  EXPECT_THROW(copy.group_id(3), std::invalid_argument);
  EXPECT_THROW(copy.group_id(-1), std::invalid_argument);
  EXPECT_THROW(kernel(device_, id_, "scale"), std::invalid_argument);
  EXPECT_THROW(kernel(device_, uuid(), "pass_through"), std::invalid_argument);
  EXPECT_THROW(run{kernel{}}, std::invalid_argument);
}

TEST_F(KernelTest, DevicesOfOneIndexKnowTheSamePrograms) {
  EXPECT_TRUE(device(1).has_xclbin(id_));
  EXPECT_EQ(device(1).get_xclbin_uuid(), id_);
  EXPECT_FALSE(device(2).has_xclbin(id_));
  EXPECT_THROW(hw_context(device(2), id_), std::invalid_argument);
  EXPECT_THROW(device().register_xclbin(xclbin(std::vector<char>{'x'})), std::invalid_argument);
}

TEST_F(KernelTest, AnXclbinListsTheKernelsThereAre) {
  const xclbin program(std::vector<char>{'x'});
  std::vector<std::string> names;
  for (const xclbin::kernel& each : program.get_kernels()) names.push_back(each.get_name());
  EXPECT_THAT(names, ::testing::ElementsAre("fill", "await", "endless", "pass_through"));
  const xclbin::arg argument = program.get_kernel("fill").get_arg(2);
  EXPECT_EQ(argument.get_name(), "value");
  EXPECT_EQ(argument.get_host_type(), "float");
  EXPECT_EQ(argument.get_size(), 4u);
  EXPECT_THROW(program.get_kernel("scale"), std::invalid_argument);
}

// With a library whose kernel has the name of the built-in one.
class ReplacedKernelTest : public KernelTest {
 protected:
  static void SetUpTestSuite() { setenv("MILLRACE_PL_KERNELS", MILLRACE_REPLACING_KERNELS, 1); }
};

// The same call inverts 4 bytes and copies 4 beats.
TEST_F(ReplacedKernelTest, RunsInsteadOfTheBuiltInOne) {
  kernel inverting(device_, id_, "pass_through");
  EXPECT_EQ(xclbin(std::vector<char>{'x'}).get_kernels().size(), 1u);
  unsetenv("MILLRACE_PL_KERNELS");
  kernel copying(device_, id_, "pass_through");
  const std::vector<uint32_t> numbers(64, 5);
  bo in = words(copying, 0, numbers);
  bo out = words(copying, 1, std::vector<uint32_t>(64, 9));

  EXPECT_EQ(inverting(in, out, 4u).wait(), ERT_CMD_STATE_COMPLETED);
  std::vector<uint32_t> expected(64, 9);
  expected[0] = ~5u;
  EXPECT_EQ(read(out), expected);

  EXPECT_EQ(copying(in, out, 4u).wait(), ERT_CMD_STATE_COMPLETED);
  EXPECT_EQ(read(out), numbers);
}

TEST_F(KernelTest, AnXclbinIsKnownByItsContent) {
  const millrace::test::TemporaryDirectory directory;
  const std::string path = directory.file("a.xclbin");
  std::ofstream(path) << 'x';
  EXPECT_EQ(xclbin(path).get_uuid(), id_);
  EXPECT_NE(xclbin(std::vector<char>{'y'}).get_uuid(), id_);
  EXPECT_TRUE(xclbin(std::vector<char>{}));
  EXPECT_FALSE(xclbin());
  EXPECT_THROW(xclbin(directory.file("none")), std::runtime_error);
  EXPECT_THROW(xclbin(directory.path().string()), std::runtime_error);
  EXPECT_THROW(device_.load_xclbin(directory.file("none")), std::runtime_error);
}

TEST(Uuid, IsTextAndBack) {
  const std::string text = "6aa4bbb5-0c1b-4f6c-8d2a-0f6f1c2f9a01";
  EXPECT_EQ(uuid(text).to_string(), text);
  EXPECT_EQ(uuid("6aa4bbb50c1b4f6c8d2a0f6f1c2f9a01"), uuid(text));
  EXPECT_FALSE(uuid(""));
  EXPECT_THROW(uuid("6aa4"), std::invalid_argument);
  EXPECT_THROW(uuid("zaa4bbb5-0c1b-4f6c-8d2a-0f6f1c2f9a01"), std::invalid_argument);
}

}  // namespace
}  // namespace xrt
