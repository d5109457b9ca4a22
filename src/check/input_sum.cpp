#include "check/input_sum.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>

#include "base/align.h"
#include "model/checksum.h"

namespace millrace::check {
namespace {

constexpr size_t kPiece = size_t{32} << 10;  // stays in the caches of a core
constexpr size_t kMostParts = 64, kCacheLine = 64;
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

size_t part_of(size_t bytes) noexcept {
  return align_up(ceil_div(bytes, kMostParts), kCacheLine);
}

// Adds a piece of memory, whose first byte is that at `offset`, to the sums of its parts.
void add(std::span<const std::byte> piece, size_t offset, size_t part, InputSum& sum) {
  while (!piece.empty()) {
    const size_t size = std::min(piece.size(), part - offset % part);
    uint64_t& value = sum.parts[offset / part];
    value = (value ^ model::checksum_of(piece.first(size))) * kFactor;
    piece = piece.subspan(size);
    offset += size;
  }
}

}  // namespace

InputSum sum_of(const void* data, size_t bytes) {
  InputSum sum{{}, SumError::kNone};
  if (bytes == 0) return sum;
  const size_t part = part_of(bytes);
  sum.parts.resize(ceil_div(bytes, part));
  // Threads of programs may have stacks that are smaller than a piece.
  const auto piece = std::make_unique_for_overwrite<std::byte[]>(std::min(kPiece, bytes));
  const auto* from = static_cast<const std::byte*>(data);
  for (size_t done = 0; done < bytes; done += kPiece) {
    const size_t size = std::min(kPiece, bytes - done);
    if (!copy(piece.get(), from + done, size))
      return {{}, errno == EFAULT ? SumError::kUnmapped : SumError::kNotPossible};
    add(std::span(piece.get(), size), done, part, sum);
  }
  return sum;
}

std::optional<ByteRange> difference(const InputSum& a, const InputSum& b, size_t bytes) {
  if (!a.known() || !b.known() || a.parts.size() != b.parts.size()) return std::nullopt;
  const size_t part = part_of(bytes);
  std::optional<ByteRange> range;
  for (size_t i = 0; i < a.parts.size(); ++i) {
    if (a.parts[i] == b.parts[i]) continue;
    if (!range) range = ByteRange{i * part, 0};
    range->end = std::min((i + 1) * part, bytes);
  }
  return range;
}

}  // namespace millrace::check
