// VgemBuffer: memory of the kernel's virtual graphics memory manager (vgem), which exports dma-bufs
// as a graphics driver or a camera does.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/unique_fd.h"

namespace millrace::test {

inline constexpr const char* kVgemNode = "/dev/dri/card0";

// The part of the kernel's interface that is used here. Debian has its headers in a package of
// graphics drivers only.
namespace vgem {

struct CreateDumb {
  uint32_t height, width, bpp, flags;
  uint32_t handle, pitch;  // results, as is size
  uint64_t size;
};
struct MapDumb {
  uint32_t handle, pad;
  uint64_t offset;  // the result
};
struct PrimeHandle {
  uint32_t handle, flags;
  int32_t fd;  // the result
};
struct Version {
  int major, minor, patch;
  size_t name_length;  // in: of the buffer; out: of the name, which has no end mark
  char* name;
  size_t date_length;
  char* date;
  size_t description_length;
  char* description;
};
inline constexpr unsigned long kVersion = _IOWR('d', 0x00, Version);
inline constexpr unsigned long kCreateDumb = _IOWR('d', 0xb2, CreateDumb);
inline constexpr unsigned long kMapDumb = _IOWR('d', 0xb3, MapDumb);
inline constexpr unsigned long kHandleToFd = _IOWR('d', 0x2d, PrimeHandle);

}  // namespace vgem

// Whether the node `card` is vgem's: on most machines the first node is that of a graphics card.
inline bool is_vgem(int card) {
  char name[16] = {};
  vgem::Version version{};
  version.name = name;
  version.name_length = sizeof name;
  return ::ioctl(card, vgem::kVersion, &version) == 0 &&
         std::string_view(name, std::min(version.name_length, sizeof name)) == "vgem";
}

// Mapped through the exporter's node `card`, and given away as a descriptor.
class VgemBuffer {
 public:
  VgemBuffer(int card, size_t bytes) : bytes_(bytes) {
    vgem::CreateDumb made{};
    made.width = static_cast<uint32_t>((bytes + 4095) / 4096 * 1024);
    made.height = 1;
    made.bpp = 32;
    EXPECT_EQ(::ioctl(card, vgem::kCreateDumb, &made), 0) << std::strerror(errno);
    vgem::MapDumb place{};
    place.handle = made.handle;
    EXPECT_EQ(::ioctl(card, vgem::kMapDumb, &place), 0) << std::strerror(errno);
    data_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, card,
                   static_cast<off_t>(place.offset));
    EXPECT_NE(data_, MAP_FAILED) << std::strerror(errno);
    vgem::PrimeHandle shared{};
    shared.handle = made.handle;
    shared.flags = O_CLOEXEC | O_RDWR;
    EXPECT_EQ(::ioctl(card, vgem::kHandleToFd, &shared), 0) << std::strerror(errno);
    fd_ = UniqueFd(shared.fd);
  }
  ~VgemBuffer() { ::munmap(data_, bytes_); }
  VgemBuffer(const VgemBuffer&) = delete;
  VgemBuffer& operator=(const VgemBuffer&) = delete;

  int fd() const { return fd_.get(); }
  float* data() const { return static_cast<float*>(data_); }

 private:
  const size_t bytes_;
  void* data_ = nullptr;
  UniqueFd fd_;
};

}  // namespace millrace::test
