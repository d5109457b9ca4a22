// Memory banks: how they are described, what they hold, and what happens when one is full.
#include "memory/bank.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "memory/bank_use.h"
#include "memory/buffer.h"
#include "tests/support/unique_name.h"

namespace millrace::memory {
namespace {

using test::unique_name;
using testing::AllOf;
using testing::HasSubstr;

class Banks : public testing::Test {
 protected:
  ~Banks() override { ::unsetenv("MILLRACE_MEMORY_BANKS"); }

  static BankList banks_of(const std::string& text) {
    ::setenv("MILLRACE_MEMORY_BANKS", text.c_str(), 1);
    return banks_of_environment().value();
  }
  static Bank& bank(const BankList& banks, size_t index = 0) { return *banks[index]; }

  static uint64_t use_of(const std::string& name) { return bank_use_of_all_processes()[name]; }
};

TEST_F(Banks, ThereAreFourWithoutLimitUnlessTheEnvironmentSaysOtherwise) {
  for (const BankList& banks : {banks_of(""), banks_of_environment().value()}) {
    ASSERT_EQ(banks.size(), 4u);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(banks[i]->name(), "DDR" + std::to_string(i));
      EXPECT_EQ(banks[i]->size(), kUnlimited);
    }
  }
}

TEST_F(Banks, HaveNamesAndSizes) {
  const BankList banks =
      parse_banks("DDR0=2G,hbm-1.a=512M,small_1=100,k=3K,t=1T,all=unlimited").value();
  ASSERT_EQ(banks.size(), 6u);
  const std::pair<const char*, uint64_t> expected[] = {
      {"DDR0", uint64_t{2} << 30}, {"hbm-1.a", 512 << 20}, {"small_1", 100}, {"k", 3 << 10},
      {"t", uint64_t{1} << 40},    {"all", kUnlimited}};
  for (size_t i = 0; i < banks.size(); ++i) {
    EXPECT_EQ(banks[i]->name(), expected[i].first);
    EXPECT_EQ(banks[i]->size(), expected[i].second);
    EXPECT_EQ(banks[i]->used(), 0u);
  }
}

TEST_F(Banks, SizesAreWrittenAsPeopleWriteThem) {
  for (const char* size : {"2G", "2g", "2GB", "2gb", "2GiB"})
    EXPECT_EQ(parse_size(size).value(), uint64_t{2} << 30) << size;
}

TEST_F(Banks, WhatMakesNoSenseIsRefusedByName) {
  for (const char* word : {"DDR0", "=1G", "a b=1G", "x=", "x=0", "x=-1", "x=1Q", "x=1Gb/s", "x=G",
                           "x=99999999999999999999", "x=99999999T", "x=1.5G"}) {
    const Status status = parse_banks(std::string("ok=1G,") + word).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << word;
    const std::string name_or_size = std::string(word).substr(std::string(word).find('=') + 1);
    EXPECT_THAT(status.message(), HasSubstr("\"")) << word;
    EXPECT_THAT(status.message(), HasSubstr(name_or_size)) << word;
  }
  EXPECT_THAT(parse_banks("a=1,a=2").status().message(), HasSubstr("two"));
  EXPECT_THAT(parse_banks("a=1,").status().message(), HasSubstr("NAME=SIZE"));
  ::setenv("MILLRACE_MEMORY_BANKS", "DDR0=huge", 1);
  EXPECT_THAT(banks_of_environment().status().message(),
              AllOf(HasSubstr("MILLRACE_MEMORY_BANKS"), HasSubstr("huge")));
}

TEST_F(Banks, AreSharedAsLongAsTheEnvironmentStaysTheSame) {
  const BankList first = banks_of("shared=1000");
  const Buffer buffer = Buffer::allocate_in(bank(first), 600).value();
  EXPECT_EQ(bank(banks_of("shared=1000")).used(), 600u);
  EXPECT_EQ(bank(banks_of("other=1000")).used(), 0u);
}

TEST_F(Banks, AFullOneSaysWhatItHasAndWhatIsWanted) {
  const BankList banks = banks_of("A=1000,B=1000");
  const Buffer first = Buffer::allocate_in(bank(banks), 600).value();
  const Status status = Buffer::allocate_in(bank(banks), 401).status();
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("\"A\""), HasSubstr("1000"), HasSubstr("600"), HasSubstr("401")));
  EXPECT_TRUE(Buffer::allocate_in(bank(banks), 400).ok());
  EXPECT_TRUE(Buffer::allocate_in(bank(banks, 1), 401).ok()) << "another bank has room";
  EXPECT_EQ(bank(banks).used(), 600u);
}

TEST_F(Banks, MemoryIsChargedUntilItsLastUserIsGone) {
  const BankList banks = banks_of("life=4096");
  Buffer slice, imported;
  {
    const Buffer buffer = Buffer::allocate_in(bank(banks), 1000).value();
    const Buffer copy = buffer;
    slice = copy.slice(10, 10).value();
    const UniqueFd fd(buffer.export_fd().value());
    imported = Buffer::import_fd(fd.get(), 1000).value();
    EXPECT_EQ(bank(banks).used(), 1000u) << "once, however many share it";
  }
  EXPECT_EQ(bank(banks).used(), 1000u);
  slice = Buffer();
  EXPECT_EQ(bank(banks).used(), 1000u) << "an import in this process is the same memory";
  imported = Buffer();
  EXPECT_EQ(bank(banks).used(), 0u);
}

TEST_F(Banks, MemoryThatCannotBeHadIsNotCharged) {
  const BankList banks = banks_of("none=unlimited");
  EXPECT_EQ(Buffer::allocate_in(bank(banks), size_t{1} << 60).status().code(),
            StatusCode::kOutOfMemory);
  EXPECT_EQ(Buffer::allocate_in(bank(banks), 0).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(bank(banks).used(), 0u);
}

TEST_F(Banks, MemoryOutlivesTheListOfItsBank) {
  Buffer buffer = Buffer::allocate_in(bank(parse_banks("gone=100").value()), 100).value();
  buffer.data()[99] = std::byte{1};
  buffer = Buffer();  // AddressSanitizer would object
}

TEST_F(Banks, SeveralThreadsNeverTakeMoreThanThereIs) {
  const BankList banks = banks_of("race=1000");
  std::atomic<uint64_t> held{0}, taken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        const Result<BankCharge> charge = bank(banks).charge(300);
        if (!charge.ok()) continue;
        ++taken;
        EXPECT_LE(held.fetch_add(300) + 300, 1000u);
        held.fetch_sub(300);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(taken, 0u);
  EXPECT_EQ(bank(banks).used(), 0u);
}

TEST_F(Banks, UseOfAllProcessesCountsSharedMemoryOnce) {
  const std::string name = unique_name("once");
  const BankList banks = banks_of(name + "=1G," + unique_name("idle") + "=1G");
  EXPECT_EQ(use_of(name), 0u);
  {
    const Buffer first = Buffer::allocate_in(bank(banks), 5000).value();
    const Buffer second = Buffer::allocate_in(bank(banks), 1).value();
    EXPECT_EQ(use_of(name), 3 * 4096u) << "in whole pages";
    // A second mapping of the same file.
    const UniqueFd fd(first.export_fd().value());
    const std::string path = "/proc/self/fd/" + std::to_string(fd.get());
    const UniqueFd read_only(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const Buffer again = Buffer::import_fd(read_only.get(), 5000).value();
    ASSERT_NE(again.data(), first.data());
    EXPECT_EQ(use_of(name), 3 * 4096u);
  }
  EXPECT_EQ(use_of(name), 0u);
}

TEST_F(Banks, UseOfAllProcessesSeesOtherProcesses) {
  const std::string name = unique_name("other");
  const std::string file = "millrace:" + name;
  int ready[2], done[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(done), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    // Does what another program with this library would do: maps a memfd of that name.
    const int fd = ::memfd_create(file.c_str(), 0);
    const bool made = ::ftruncate(fd, 8192) == 0 &&
                      ::mmap(nullptr, 8192, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED;
    char byte = made ? 1 : 0;
    const bool announced = ::write(ready[1], &byte, 1) == 1;
    ::close(done[1]);
    const bool waited = ::read(done[0], &byte, 1) == 0;
    ::_exit(announced && waited ? 0 : 1);
  }
  char made = 0;
  ASSERT_EQ(::read(ready[0], &made, 1), 1);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(use_of(name), 8192u);
  for (const int fd : {ready[0], ready[1], done[0], done[1]}) ::close(fd);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(use_of(name), 0u);
}

}  // namespace
}  // namespace millrace::memory
