#include "record/memory_copy.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace millrace::record {

// The system copies at most INT_MAX bytes at a time.
Result<std::vector<std::byte>> copy_of(const void* data, size_t bytes) {
  std::vector<std::byte> copy(bytes);
  for (size_t done = 0; done < bytes;) {
    const iovec local{copy.data() + done, bytes - done};
    const iovec remote{static_cast<std::byte*>(const_cast<void*>(data)) + done, bytes - done};
    const ssize_t copied = ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0);
    if (copied <= 0)
      return io_error("cannot read the memory of a tensor", copied == 0 ? EFAULT : errno);
    done += static_cast<size_t>(copied);
  }
  return copy;
}

}  // namespace millrace::record
