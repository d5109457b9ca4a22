// Accesses to dma-bufs: which the kernel is told of. The dma-bufs are stand-ins; real ones are
// tested in a virtual machine (tests/vart/dma_buf_test.cpp).
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"
#include "memory/buffer.h"
#include "tests/support/dma_buf_calls.h"

namespace millrace::memory {
namespace {

using test::kStandIn;
using test::refuse_next_sync;
using test::take_sync_calls;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kStart = DMA_BUF_SYNC_START, kEnd = DMA_BUF_SYNC_END;
constexpr uint64_t kRead = DMA_BUF_SYNC_READ, kWrite = DMA_BUF_SYNC_WRITE;

class DmaBuf : public ::testing::Test {
 protected:
  DmaBuf() { take_sync_calls(); }
  static Buffer import(const char* name) {
    const UniqueFd fd(::memfd_create(name, MFD_CLOEXEC));
    EXPECT_EQ(::ftruncate(fd.get(), 8192), 0);
    return Buffer::import_fd(fd.get(), 8192).value();
  }
  static Status access(const HostAccess& memory, Access access) {
    return with_access(memory, access, [] { return Status(); });
  }
};

TEST_F(DmaBuf, TheKernelIsToldOfEachAccessAndItsDirection) {
  const Buffer buffer = import(kStandIn);
  EXPECT_THAT(take_sync_calls(), IsEmpty()) << "mapping is no access";
  EXPECT_TRUE(access(buffer.host_access(), Access::kRead).ok());
  EXPECT_TRUE(access(buffer.slice(0, 100)->host_access(), Access::kWrite).ok());
  EXPECT_TRUE(access(HostAccess::of(buffer.data() + 8000, 100), Access::kReadWrite).ok());
  EXPECT_THAT(take_sync_calls(),
              ElementsAre(kStart | kRead, kEnd | kRead, kStart | kWrite, kEnd | kWrite,
                          kStart | kRead | kWrite, kEnd | kRead | kWrite));
}

TEST_F(DmaBuf, SyncsBeginAndEndTheHostsAccess) {
  const Buffer buffer = import(kStandIn);
  EXPECT_TRUE(buffer.sync_for_host(Access::kRead).ok());
  EXPECT_TRUE(buffer.sync_for_device().ok());
  EXPECT_THAT(take_sync_calls(), ElementsAre(kStart | kRead, kEnd | kRead | kWrite));
}

TEST_F(DmaBuf, NothingIsCalledForOtherFiles) {
  const Buffer foreign = import("other"), own = Buffer::allocate(8192).value();
  for (const Buffer& buffer : {foreign, own}) {
    EXPECT_TRUE(access(buffer.host_access(), Access::kReadWrite).ok());
    EXPECT_TRUE(buffer.sync_for_host().ok());
    EXPECT_TRUE(buffer.sync_for_device().ok());
  }
  EXPECT_THAT(take_sync_calls(), IsEmpty());
}

TEST_F(DmaBuf, AnInterruptedCallIsMadeAgain) {
  const Buffer buffer = import(kStandIn);
  refuse_next_sync(EINTR);
  EXPECT_TRUE(buffer.sync_for_host().ok());
  EXPECT_EQ(take_sync_calls().size(), 2u);
}

TEST_F(DmaBuf, AnExporterThatRefusesFailsTheAccess) {
  const Buffer buffer = import(kStandIn);
  refuse_next_sync(EIO);
  bool ran = false;
  const Status status = with_access(buffer.host_access(), Access::kRead, [&] {
    ran = true;
    return Status();
  });
  EXPECT_EQ(status.code(), StatusCode::kIoError);
  EXPECT_THAT(status.message(), HasSubstr("DMA_BUF_IOCTL_SYNC"));
  EXPECT_FALSE(ran);
  EXPECT_EQ(take_sync_calls().size(), 1u) << "what has not begun is not ended";
}

TEST_F(DmaBuf, OneIsMappedOnceAndKept) {
  const UniqueFd fd(::memfd_create(kStandIn, MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(fd.get(), 8192), 0);
  const std::byte* const first = Buffer::import_fd(fd.get(), 8192).value().data();
  EXPECT_EQ(Buffer::import_fd(fd.get(), 4096).value().data(), first);
}

}  // namespace
}  // namespace millrace::memory
