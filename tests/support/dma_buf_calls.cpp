#include "tests/support/dma_buf_calls.h"

#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <mutex>
#include <string>
#include <utility>

namespace millrace::test {
namespace {

std::mutex mutex;
std::vector<uint64_t> calls;
int failures = 0;
int refusal = 0;

bool is_stand_in(int fd) {
  char target[64] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  return ::readlink(link.c_str(), target, sizeof(target) - 1) > 0 &&
         std::string(target).starts_with(std::string("/memfd:") + kStandIn);
}

int sync(int fd, dma_buf_sync* request) {
  const std::lock_guard lock(mutex);
  calls.push_back(request->flags);
  if (refusal != 0) {
    errno = std::exchange(refusal, 0);
    return -1;
  }
  if (is_stand_in(fd)) return 0;
  const auto result = static_cast<int>(::syscall(SYS_ioctl, fd, DMA_BUF_IOCTL_SYNC, request));
  if (result != 0) ++failures;
  return result;
}

}  // namespace

std::vector<uint64_t> take_sync_calls() {
  const std::lock_guard lock(mutex);
  return std::exchange(calls, {});
}

int failed_sync_calls() {
  const std::lock_guard lock(mutex);
  return failures;
}

void refuse_next_sync(int error) {
  const std::lock_guard lock(mutex);
  refusal = error;
}

}  // namespace millrace::test

// These take precedence over those of the C library.
extern "C" int fstatfs(int fd, struct statfs* info) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_fstatfs, fd, info));
  if (result == 0 && millrace::test::is_stand_in(fd)) info->f_type = DMA_BUF_MAGIC;
  return result;
}

extern "C" int ioctl(int fd, unsigned long request, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (request == DMA_BUF_IOCTL_SYNC)
    return millrace::test::sync(fd, static_cast<dma_buf_sync*>(argument));
  return static_cast<int>(::syscall(SYS_ioctl, fd, request, argument));
}
