// Records the DMA_BUF_IOCTL_SYNC calls of programs that are compiled with dma_buf_calls.cpp. It
// also represents a kernel that has dma-bufs: a memfd whose name begins with kStandIn counts as
// one. Thread-safe.
#pragma once

#include <linux/dma-buf.h>

#include <cstdint>
#include <vector>

namespace millrace::test {

inline constexpr const char* kStandIn = "stand-in";

// The flags of all DMA_BUF_IOCTL_SYNC calls, whether they succeeded or not, since the last call of
// this function.
std::vector<uint64_t> take_sync_calls();
// How many calls that were not refused on request have failed.
int failed_sync_calls();
// Makes the next call fail.
void refuse_next_sync(int error);

}  // namespace millrace::test
