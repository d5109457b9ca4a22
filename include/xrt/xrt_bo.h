// Buffer objects: memory that host and device share.
//
// The headers in this folder stand in for those of the board's runtime, as far as programs around
// VART use it: memory, and kernels, which are functions in software here. They are
// source-compatible and nothing else: a program that was compiled for the vendor's library needs to
// be compiled again. C++17 and later.
#ifndef XRT_XRT_BO_H
#define XRT_XRT_BO_H

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "xrt/xrt_device.h"
#include "xrt/xrt_hw_context.h"

// Names of XRT's interface for C, which programs use with bo, too.
#define XRT_BO_FLAGS_NONE 0u
#define XRT_BO_FLAGS_CACHEABLE (1u << 24)
#define XRT_BO_FLAGS_DEV_ONLY (1u << 28)
#define XRT_BO_FLAGS_HOST_ONLY (1u << 29)
#define XRT_BO_FLAGS_P2P (1u << 30)

enum xclBOSyncDirection { XCL_BO_SYNC_BO_TO_DEVICE = 0, XCL_BO_SYNC_BO_FROM_DEVICE };

// A file descriptor.
using xclBufferExportHandle = int32_t;

namespace xrt {
class bo_registration;  // the library's own, and not among what it exports
}

#pragma GCC visibility push(default)

namespace xrt {

using memory_group = uint32_t;

// The number of a process.
struct pid_type {
  pid_t pid;
};

// A handle to memory: copies share it, and it lives until the last copy and everything that was
// made of it (tensors, frames, parts) is gone. The address of a bo may be passed to vart::NpuTensor
// as MemoryType::XRT_BO and to vart::VideoFrame, which then use its memory without a copy; they
// need the bo itself only during that call. In turn, what NpuTensor::get_buffer() gives for an
// XRT_BO tensor may be used and copied as a bo, but not assigned to, moved from or destroyed.
//
// Flags and memory groups are accepted and make no difference. Handles may be used from several
// threads; one handle must not be assigned while another thread uses it. All members but moves and
// the destructor throw exceptions derived from std::exception, with the reason:
// std::invalid_argument for sizes and ranges that cannot be, std::runtime_error where there is no
// memory.
class bo {
 public:
  enum class flags : uint32_t {
    normal = XRT_BO_FLAGS_NONE,
    cacheable = XRT_BO_FLAGS_CACHEABLE,
    device_only = XRT_BO_FLAGS_DEV_ONLY,
    host_only = XRT_BO_FLAGS_HOST_ONLY,
    p2p = XRT_BO_FLAGS_P2P
  };
  using export_handle = xclBufferExportHandle;

  // Empty: false, and no member but the assignments may be used.
  bo() noexcept;

  // New memory of `size` bytes, zero-filled. As in XRT it consists of whole pages, which map()
  // makes accessible and an import reports as its size, but size() and the ranges that are checked
  // are those of the program.
  bo(const device& device, size_t size, flags flags, memory_group group);
  bo(const device& device, size_t size, uint32_t flags, memory_group group);
  bo(const device& device, size_t size, memory_group group);
  bo(const hw_context& context, size_t size, flags flags, memory_group group);
  bo(const hw_context& context, size_t size, uint32_t flags, memory_group group);
  bo(const hw_context& context, size_t size, memory_group group);
  // The caller's memory, which must outlive everything that uses it.
  bo(const device& device, void* userptr, size_t size, flags flags, memory_group group);
  bo(const device& device, void* userptr, size_t size, memory_group group);
  // The memory that another bo, tensor, frame or process exported, in the size of its file. The
  // descriptor is duplicated: it stays the caller's, and may be closed at once.
  bo(const device& device, export_handle handle);
  // The part of `size` bytes from `offset`; a part has no parts itself.
  bo(const bo& parent, size_t size, size_t offset);

  bo(const bo& other);
  bo& operator=(const bo& other);
  bo(bo&& other) noexcept;
  bo& operator=(bo&& other) noexcept;
  ~bo();

  size_t size() const;       // bytes
  uint64_t address() const;  // the device address of the first byte
  // A new descriptor, the caller's to close. A part and the caller's own memory have none.
  export_handle export_buffer() const;

  // Makes what one side wrote visible to the other: all of it, or a range, which must lie inside.
  void sync(xclBOSyncDirection direction);
  void sync(xclBOSyncDirection direction, size_t size, size_t offset);

  // The host address of the first byte, valid as long as the memory lives.
  void* map();
  template <class Pointer>
  Pointer map() {
    static_assert(std::is_pointer_v<Pointer>, "map<T*>() gives a pointer");
    return reinterpret_cast<Pointer>(map());
  }

  // Copies `size` bytes from `source` to byte `seek` of the memory, or from byte `skip` of the
  // memory to `destination`; without a size, as many as the memory has.
  void write(const void* source, size_t size, size_t seek);
  void write(const void* source) { write(source, size(), 0); }
  void read(void* destination, size_t size, size_t skip);
  void read(void* destination) { read(destination, size(), 0); }
  // Copies `size` bytes of another bo; 0 for all of it.
  void copy(const bo& source, size_t size = 0, size_t source_offset = 0, size_t offset = 0);

  explicit operator bool() const;
  bool operator!() const { return !static_cast<bool>(*this); }

 private:
  // Makes the address of this object known as a handle of the memory.
  std::unique_ptr<bo_registration> registration_;
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_XRT_BO_H
