// xrt::bo over memory::Buffer. The member functions look up the memory by the address of the
// object, so a bo has no other state than its registration.
#include "xrt/xrt_bo.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/value_or_throw.h"
#include "memory/address_entry.h"
#include "memory/buffer_handle.h"

namespace xrt {

using millrace::check_or_throw;
using millrace::value_or_throw;
using millrace::memory::Access;
using millrace::memory::AddressEntry;
using millrace::memory::Buffer;
using millrace::memory::BufferHandle;

// The registration of a bo, by which its memory is found by the address of the bo object
// (memory/buffer_handle.h) and by its device address. Copies and moves of a bo register anew.
class bo_registration {
 public:
  bo_registration(const bo* object, const Buffer& buffer)
      : handle_(object, buffer), address_(buffer) {}

  void move_to(const bo* object) noexcept { handle_.move_to(object); }

 private:
  BufferHandle handle_;
  AddressEntry address_;
};

namespace {

constexpr const char* kWhat = "xrt::bo";

using Registration = std::unique_ptr<bo_registration>;

// Returns the memory of a bo. It is found by the address of the object, without access to members,
// since a program may pass the pointer of NpuTensor::get_buffer(), which refers to another class.
Buffer memory_of(const bo& object) {
  Buffer found = BufferHandle::find(&object);
  if (!found) throw std::runtime_error("xrt::bo: this object has no memory");
  return found;
}

Registration register_bo(const bo* object, millrace::Result<Buffer> buffer) {
  return std::make_unique<bo_registration>(object, value_or_throw(std::move(buffer), kWhat));
}

Registration register_copy(const bo* object, const bo& other) {
  const Buffer buffer = BufferHandle::find(&other);
  return buffer ? std::make_unique<bo_registration>(object, buffer) : nullptr;
}

size_t file_size(int fd) {
  struct stat file {};
  if (fstat(fd, &file) != 0)
    throw std::invalid_argument(fmt::format("xrt::bo: {} is not an open file descriptor", fd));
  return static_cast<size_t>(file.st_size);
}

void check_range(const char* what, size_t bytes, size_t size, size_t offset) {
  if (offset <= bytes && size <= bytes - offset) return;
  throw std::invalid_argument(
      fmt::format("xrt::bo: {}: {} bytes at offset {} exceed the {} bytes "
                  "of the buffer",
                  what, size, offset, bytes));
}

// Copies `size` bytes from offset `skip` on. Requirement: check_range() has accepted the range.
void read_from(const Buffer& memory, void* destination, size_t size, size_t skip) {
  const auto copy = [&] {
    std::memcpy(destination, memory.data() + skip, size);
    return millrace::Status();
  };
  check_or_throw(with_access(memory.host_access(), Access::kRead, copy), kWhat);
}

}  // namespace

bo::bo() noexcept = default;

bo::bo(const device&, size_t size, flags, memory_group)
    : registration_(register_bo(this, Buffer::allocate_pages(size))) {}
bo::bo(const device& device, size_t size, uint32_t, memory_group group)
    : bo(device, size, flags::normal, group) {}
bo::bo(const device& device, size_t size, memory_group group)
    : bo(device, size, flags::normal, group) {}
bo::bo(const hw_context& context, size_t size, flags flags, memory_group group)
    : bo(context.get_device(), size, flags, group) {}
bo::bo(const hw_context& context, size_t size, uint32_t, memory_group group)
    : bo(context.get_device(), size, flags::normal, group) {}
bo::bo(const hw_context& context, size_t size, memory_group group)
    : bo(context.get_device(), size, flags::normal, group) {}

bo::bo(const device&, void* userptr, size_t size, flags, memory_group)
    : registration_(register_bo(this, Buffer::wrap(userptr, size))) {}
bo::bo(const device& device, void* userptr, size_t size, memory_group group)
    : bo(device, userptr, size, flags::normal, group) {}

bo::bo(const device&, export_handle handle)
    : registration_(register_bo(this, Buffer::import_fd(handle, file_size(handle)))) {}

bo::bo(const bo& parent, size_t size, size_t offset)
    : registration_(register_bo(this, memory_of(parent).slice(offset, size))) {}

bo::bo(const bo& other) : registration_(register_copy(this, other)) {}

bo& bo::operator=(const bo& other) {
  if (this == &other) return *this;
  const Buffer kept = BufferHandle::find(&other);
  registration_.reset();
  if (kept) registration_ = std::make_unique<bo_registration>(this, kept);
  return *this;
}

bo::bo(bo&& other) noexcept : registration_(std::move(other.registration_)) {
  if (registration_) registration_->move_to(this);
}

bo& bo::operator=(bo&& other) noexcept {
  if (this == &other) return *this;
  registration_ = std::move(other.registration_);
  if (registration_) registration_->move_to(this);
  return *this;
}

bo::~bo() = default;

size_t bo::size() const {
  return memory_of(*this).size();
}

uint64_t bo::address() const {
  return memory_of(*this).device_address();
}

bo::export_handle bo::export_buffer() const {
  return value_or_throw(memory_of(*this).export_fd(), kWhat);
}

void bo::sync(xclBOSyncDirection direction) {
  const Buffer memory = memory_of(*this);
  check_or_throw(
      direction == XCL_BO_SYNC_BO_TO_DEVICE ? memory.sync_for_device() : memory.sync_for_host(),
      kWhat);
}

void bo::sync(xclBOSyncDirection direction, size_t size, size_t offset) {
  check_range("sync", this->size(), size, offset);
  sync(direction);
}

void* bo::map() {
  return memory_of(*this).data();
}

void bo::write(const void* source, size_t size, size_t seek) {
  const Buffer memory = memory_of(*this);
  check_range("write", memory.size(), size, seek);
  if (!memory.writable()) throw std::runtime_error("xrt::bo: this memory is read-only");
  const auto copy = [&] {
    std::memcpy(memory.data() + seek, source, size);
    return millrace::Status();
  };
  check_or_throw(with_access(memory.host_access(), Access::kWrite, copy), kWhat);
}

void bo::read(void* destination, size_t size, size_t skip) {
  const Buffer memory = memory_of(*this);
  check_range("read", memory.size(), size, skip);
  read_from(memory, destination, size, skip);
}

void bo::copy(const bo& source, size_t size, size_t source_offset, size_t offset) {
  const Buffer from = memory_of(source);
  if (size == 0) size = from.size();
  check_range("copy", from.size(), size, source_offset);
  // Copies through a temporary buffer, since the two ranges may overlap.
  std::vector<std::byte> bytes(size);
  read_from(from, bytes.data(), size, source_offset);
  write(bytes.data(), size, offset);
}

bo::operator bool() const {
  return static_cast<bool>(BufferHandle::find(this));
}

}  // namespace xrt
