#include "vartx/buffers/mapped_buffer.h"

#include <stdexcept>
#include <utility>

#include "base/log.h"
#include "base/value_or_throw.h"

namespace millrace::vartx {
namespace {

using ::vart::DataMapFlags;

using memory::Access;

constexpr unsigned kRead = static_cast<unsigned>(DataMapFlags::READ);
constexpr unsigned kWrite = static_cast<unsigned>(DataMapFlags::WRITE);

// Translates the flags of a map. Flags that name neither READ nor WRITE count as reading.
Access access_of(unsigned flags) {
  if ((flags & kWrite) == 0) return Access::kRead;
  return (flags & kRead) == 0 ? Access::kWrite : Access::kReadWrite;
}

}  // namespace

MappedBuffer::MappedBuffer(memory::Buffer buffer, Side side) : buffer_(std::move(buffer)) {
  if (side == Side::kDevice) address_ = std::make_unique<memory::AddressEntry>(buffer_);
}

uint64_t MappedBuffer::device_address() const noexcept {
  return address_ ? buffer_.device_address() : 0;
}

// `wanted` may be no enumerator: programs combine flags by casting their sum.
void MappedBuffer::map(DataMapFlags wanted) {
  const auto flags = static_cast<unsigned>(wanted);
  if ((flags & kWrite) != 0 && !buffer_.writable())
    throw std::runtime_error("map: the descriptor of this memory allows reading only");
  const Access access = access_of(flags);
  check_or_throw(
      (flags & kRead) != 0 ? buffer_.sync_for_host(access) : buffer_.host_access().begin(access),
      "map");
  ++open_maps_;
  mapped_for_ |= flags;
}

void MappedBuffer::unmap() {
  if (open_maps_ == 0) return;
  const Access access = access_of(mapped_for_);
  const Status ended = (mapped_for_ & kWrite) != 0 ? buffer_.sync_for_device(access)
                                                   : buffer_.host_access().end(access);
  if (--open_maps_ == 0) mapped_for_ = 0;
  if (!ended.ok()) log_format(LogLevel::kWarning, "vartx", "unmap: {}", ended.message());
}

int MappedBuffer::export_fd() const {
  const Result<int> fd = buffer_.export_fd();
  if (fd.ok()) return *fd;
  log_format(LogLevel::kWarning, "vartx", "export_buffer: {}", fd.status().message());
  return -1;
}

}  // namespace millrace::vartx
