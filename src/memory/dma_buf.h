// Dma-bufs: memory that devices share through a file descriptor. The kernel's calls about them, as
// functions.
//
// A processor that is not coherent with the devices must be told of each access to such memory:
// the exporter then writes back or invalidates caches. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::memory {

// Kind of access that the processor makes to memory.
enum class Access : uint8_t { kRead = 1, kWrite = 2, kReadWrite = 3 };

bool is_dma_buf(int fd) noexcept;

// To be called before and after the processor accesses the memory. kIoError when the exporter
// refuses. Requirement: `fd` is a dma-buf.
Status begin_dma_buf_access(int fd, Access access) noexcept;
Status end_dma_buf_access(int fd, Access access) noexcept;

// Source of memory that has a descriptor:
//   memfd     the kernel's memory, a file that every process can map, and that no device knows
//   udmabuf   the same memory, as a dma-buf (by /dev/udmabuf)
//   dma_heap  a dma-buf of the system's heap (by /dev/dma_heap/system)
enum class MemorySource : uint8_t { kMemfd, kUdmabuf, kDmaHeap };

inline constexpr const char* kMemorySourceVariable = "MILLRACE_SHARED_MEMORY";

// The word of the list above.
std::string_view to_string(MemorySource source) noexcept;
// The source that MILLRACE_SHARED_MEMORY names; memfd without it. kInvalidArgument names the
// variable, its value and the list.
Result<MemorySource> memory_source_of_environment();
// Whether the process may use the source. kUnsupported names the device node and the system's
// reason.
Status check_source(MemorySource source);

// A new dma-buf of at least that many bytes, zero-filled, which others see under the first 31
// characters of `name`. kUnsupported as above; kOutOfMemory, which names the node, when it has not
// so much. Requirement: the source is none but udmabuf and dma_heap.
Result<UniqueFd> make_dma_buf(MemorySource source, size_t bytes, const std::string& name);

}  // namespace millrace::memory
