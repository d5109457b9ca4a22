#include "vartx/buffers/mapped_buffer.h"

#include <stdexcept>
#include <utility>

#include "base/log.h"
#include "base/value_or_throw.h"

namespace millrace::vartx {
namespace {

using ::vart::DataMapFlags;

// Programs combine flags by casting their sum.
bool has(DataMapFlags flags, DataMapFlags flag) {
  return (static_cast<unsigned>(flags) & static_cast<unsigned>(flag)) != 0;
}

}  // namespace

MappedBuffer::MappedBuffer(memory::Buffer buffer, Side side) : buffer_(std::move(buffer)) {
  if (side == Side::kDevice) address_ = std::make_unique<memory::AddressEntry>(buffer_);
}

uint64_t MappedBuffer::device_address() const noexcept {
  return address_ ? buffer_.device_address() : 0;
}

void MappedBuffer::map(DataMapFlags flags) {
  check_or_throw(buffer_.check_file(), "map");
  if (has(flags, DataMapFlags::WRITE)) {
    if (!buffer_.writable())
      throw std::runtime_error("map: the descriptor of this memory allows reading only");
    mapped_for_writing_ = true;
  }
  if (has(flags, DataMapFlags::READ)) check_or_throw(buffer_.sync_for_host(), "map");
}

void MappedBuffer::unmap() {
  if (!std::exchange(mapped_for_writing_, false)) return;
  const Status synced = buffer_.sync_for_device();
  if (!synced.ok()) log_format(LogLevel::kWarning, "vartx", "unmap: {}", synced.message());
}

int MappedBuffer::export_fd() const {
  const Result<int> fd = buffer_.export_fd();
  if (fd.ok()) return *fd;
  log_format(LogLevel::kWarning, "vartx", "export_buffer: {}", fd.status().message());
  return -1;
}

}  // namespace millrace::vartx
