#include "check/input_sum.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "model/checksum.h"

namespace millrace::check {
namespace {

constexpr size_t kPiece = size_t{32} << 10;  // stays in the caches of a core
// Odd, so that multiplying by it loses nothing.
constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;

// Copies memory of this process; false with errno set if not all of it is there.
bool copy(void* to, const std::byte* from, size_t bytes) noexcept {
  const iovec local{to, bytes};
  const iovec remote{const_cast<std::byte*>(from), bytes};
  const ssize_t copied = ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0);
  if (copied >= 0 && static_cast<size_t>(copied) < bytes) errno = EFAULT;
  return copied >= 0 && static_cast<size_t>(copied) == bytes;
}

}  // namespace

InputSum sum_of(const void* data, size_t bytes) noexcept {
  std::array<std::byte, kPiece> piece;
  InputSum sum;
  const auto* from = static_cast<const std::byte*>(data);
  for (size_t done = 0; done < bytes; done += kPiece) {
    const size_t size = std::min(kPiece, bytes - done);
    if (!copy(piece.data(), from + done, size))
      return {0, errno == EFAULT ? SumError::kUnmapped : SumError::kNotPossible};
    sum.value = (sum.value ^ model::checksum_of(std::span(piece).first(size))) * kFactor;
  }
  return sum;
}

}  // namespace millrace::check
