// MILLRACE_SHARED_MEMORY: where memory with a descriptor comes from. The sources that this machine
// lacks are tested in a virtual machine that has them (tests/vart/dma_buf_test.cpp).
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>

#include "memory/bank.h"
#include "memory/buffer.h"

namespace millrace::memory {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class MemorySources : public ::testing::Test {
 protected:
  ~MemorySources() override { ::unsetenv(kMemorySourceVariable); }
  static void ask_for(const char* source) { ::setenv(kMemorySourceVariable, source, 1); }
};

TEST_F(MemorySources, MemfdIsTheDefault) {
  for (const char* source : {"", "memfd"}) {
    ask_for(source);
    const Result<Buffer> made = Buffer::allocate(5000);
    ASSERT_TRUE(made.ok()) << made.status().message();
    EXPECT_EQ(made->kind(), BufferKind::kShared);
    EXPECT_FALSE(made->host_access());
  }
}

TEST_F(MemorySources, AnUnknownOneIsRefusedWithTheList) {
  ask_for("hugetlb");
  const BankList banks = banks_of_environment().value();
  for (const Status& status :
       {Buffer::allocate(5000).status(), Buffer::allocate_in(*banks[0], 5000).status()}) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), AllOf(HasSubstr("MILLRACE_SHARED_MEMORY is \"hugetlb\""),
                                        HasSubstr("memfd, udmabuf, dma_heap")));
  }
  EXPECT_TRUE(Buffer::allocate(5000, BufferKind::kHeap).ok()) << "which has no descriptor";
  EXPECT_EQ(banks[0]->used(), 0u);
}

TEST_F(MemorySources, OneThatTheMachineLacksIsRefusedWithItsNode) {
  bool lacked = false;
  for (const auto& [source, node] : {std::pair{MemorySource::kUdmabuf, "/dev/udmabuf"},
                                     std::pair{MemorySource::kDmaHeap, "/dev/dma_heap/system"}}) {
    if (::access(node, F_OK) == 0) continue;
    lacked = true;
    ask_for(std::string(to_string(source)).c_str());
    for (const Status& status : {Buffer::allocate(5000).status(),
                                 Buffer::allocate(5000, source).status(), check_source(source)}) {
      EXPECT_EQ(status.code(), StatusCode::kUnsupported);
      EXPECT_THAT(status.message(), AllOf(HasSubstr(node), HasSubstr("No such file")));
    }
    EXPECT_TRUE(Buffer::allocate(5000, MemorySource::kMemfd).ok());
  }
  if (!lacked) GTEST_SKIP() << "this machine has every source";
}

}  // namespace
}  // namespace millrace::memory
