// DMA-BUFs: memory that devices and processes share through a file descriptor. These functions wrap
// the ioctls of the kernel.
//
// Each access of the processor to such memory must be announced to the kernel, since the processor
// may not be coherent with the devices: the exporter then writes back or invalidates caches.
// Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::memory {

// The kind of access of the processor to memory.
enum class Access : uint8_t { kRead = 1, kWrite = 2, kReadWrite = 3 };

bool is_dma_buf(int fd) noexcept;

// Must be called before and after the processor accesses the memory (DMA_BUF_IOCTL_SYNC). kIoError
// when the exporter refuses. Requirement: `fd` is a DMA-BUF.
Status begin_dma_buf_access(int fd, Access access) noexcept;
Status end_dma_buf_access(int fd, Access access) noexcept;

// The source of shared memory, which has a descriptor:
//   memfd     anonymous memory as a file, which processes can map but devices cannot import
//   udmabuf   the same memory as a DMA-BUF (/dev/udmabuf)
//   dma_heap  a DMA-BUF from the system heap (/dev/dma_heap/system)
enum class MemorySource : uint8_t { kMemfd, kUdmabuf, kDmaHeap };

inline constexpr const char* kMemorySourceVariable = "MILLRACE_SHARED_MEMORY";

// Returns the name in the list above.
std::string_view to_string(MemorySource source) noexcept;
// Returns the source that MILLRACE_SHARED_MEMORY names; memfd if it is not set. kInvalidArgument
// names the variable, its value and the valid ones.
Result<MemorySource> memory_source_of_environment();
// Checks that the process may use the source. kUnsupported names the device node and the system's
// reason.
Status check_source(MemorySource source);

// Returns a new zero-filled DMA-BUF of at least `bytes` bytes, whose name in /proc is the first 31
// characters of `name`. kUnsupported as check_source(); kOutOfMemory, which names the node, when
// the memory cannot be allocated. Requirement: the source is udmabuf or dma_heap.
Result<UniqueFd> make_dma_buf(MemorySource source, size_t bytes, const std::string& name);

}  // namespace millrace::memory
