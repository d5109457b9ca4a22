// map and unmap of memory and frames on dma-bufs: which accesses the kernel is told of.
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

#include "base/unique_fd.h"
#include "tests/support/dma_buf_calls.h"
#include "vart/vart_memory.hpp"

namespace vart {
namespace {

using millrace::test::take_sync_calls;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kStart = DMA_BUF_SYNC_START, kEnd = DMA_BUF_SYNC_END;
constexpr uint64_t kRead = DMA_BUF_SYNC_READ, kWrite = DMA_BUF_SYNC_WRITE;

class MappedDmaBuf : public ::testing::Test {
 protected:
  MappedDmaBuf() { take_sync_calls(); }

  static Memory import(const char* name) {
    const millrace::UniqueFd fd(memfd_create(name, MFD_CLOEXEC));
    EXPECT_EQ(ftruncate(fd.get(), 4096), 0);
    return Memory(MemoryImplType::XRT, fd.get(), 4096, Device::get_device_hdl(0, ""));
  }

  Memory memory_ = import(millrace::test::kStandIn);
};

TEST_F(MappedDmaBuf, TheKernelIsToldOfWhatTheMapIsFor) {
  memory_.map(DataMapFlags::READ);
  memory_.unmap();
  memory_.map(DataMapFlags::WRITE);
  memory_.unmap();
  memory_.map(static_cast<DataMapFlags>(3));
  memory_.unmap();
  EXPECT_THAT(take_sync_calls(),
              ElementsAre(kStart | kRead, kEnd | kRead, kStart | kWrite, kEnd | kWrite,
                          kStart | kRead | kWrite, kEnd | kRead | kWrite));
  memory_.unmap();
  EXPECT_THAT(take_sync_calls(), IsEmpty());
}

// A program may map a frame to write, while the library reads the frame.
TEST_F(MappedDmaBuf, AMapWithinAnotherDoesNotEndIt) {
  memory_.map(DataMapFlags::WRITE);
  memory_.map(DataMapFlags::READ);
  memory_.unmap();
  take_sync_calls();
  memory_.unmap();
  EXPECT_THAT(take_sync_calls(), ElementsAre(kEnd | kRead | kWrite));
  memory_.unmap();
  EXPECT_THAT(take_sync_calls(), IsEmpty());
}

TEST_F(MappedDmaBuf, AnExporterThatRefusesFailsTheMap) {
  millrace::test::refuse_next_sync(EIO);
  EXPECT_THROW(memory_.map(DataMapFlags::READ), std::runtime_error);
  take_sync_calls();
  memory_.unmap();
  EXPECT_THAT(take_sync_calls(), IsEmpty()) << "nothing is mapped";
}

TEST_F(MappedDmaBuf, OtherMemoryCausesNoCall) {
  Memory other = import("other");
  other.map(static_cast<DataMapFlags>(3));
  other.unmap();
  EXPECT_THAT(take_sync_calls(), IsEmpty());
}

}  // namespace
}  // namespace vart
