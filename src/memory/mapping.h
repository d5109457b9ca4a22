// Mapping: the first bytes of a file, mapped into the memory of this process, with a descriptor
// through which other processes can map the file as well.
//
// A mapping of a new file keeps no descriptor when the process is short of them
// (descriptor_claim.h), and has no file at all when the system forbids memfds. Such memory cannot
// be shared, but is otherwise the same. A DMA-BUF always keeps its descriptor, through which
// accesses are announced to the kernel.
//
// A file is mapped once per kind of access: opening it again while a large enough mapping exists
// returns that mapping. This holds for regular files, including memfds, and for DMA-BUFs. Mappings
// of files that Millrace has not made are cached after their last user is gone (kept_mappings.h). A
// mapping is found by device and inode, which the system does not reuse while the file is mapped.
//
// Thread-safe. A forked child cannot create mappings (kForked), but may destroy those it has.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/status.h"
#include "base/unique_fd.h"
#include "memory/bank.h"
#include "memory/descriptor_claim.h"
#include "memory/device_side.h"
#include "memory/dma_buf.h"
#include "memory/host_access.h"

namespace millrace::memory {

// The names of memfds and DMA-BUFs in /proc: the name for memory without a bank, and the prefix
// that precedes the name of a bank.
inline constexpr const char* kFileName = "millrace";
inline constexpr std::string_view kBankFilePrefix = "millrace:";

class Mapping {
 public:
  // Allocates zero-filled memory, whose size cannot change. For memfd, falls back to anonymous
  // memory if the process has no descriptor left, or the system forbids memfds (which is logged
  // once). kOutOfMemory when it cannot be allocated; kUnsupported, with the device node and the
  // system's reason, when the process cannot use the source.
  static Result<std::shared_ptr<Mapping>> create(MemorySource source, size_t bytes,
                                                 const std::string& file_name = kFileName);
  // Maps the first `bytes` bytes of the file behind `fd`, which the caller still owns.
  // kInvalidArgument, with the reason, for a descriptor that cannot be mapped; kOutOfMemory when
  // the process may not map more memory.
  static Result<std::shared_ptr<Mapping>> open(int fd, size_t bytes);

  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  std::byte* data() const noexcept { return data_; }
  size_t bytes() const noexcept { return bytes_; }
  bool writable() const noexcept { return writable_; }
  // The device's own copy of the memory; null if host and device share the memory.
  DeviceSide* device_side() const noexcept { return device_side_.get(); }

  // True if the file can be truncated: it is a regular file without F_SEAL_SHRINK. Accessing pages
  // beyond its new end would raise SIGBUS.
  bool may_shrink() const noexcept { return may_shrink_; }
  bool is_dma_buf() const noexcept { return is_dma_buf_; }
  // Begin and end an access to the first `bytes` bytes, as HostAccess describes.
  Status begin_access(size_t bytes, Access access) const noexcept;
  Status end_access(Access access) const noexcept;

  // Attach objects that exist as long as the memory. Requirement: the mapping is new, and no other
  // thread uses it.
  void set_charge(BankCharge charge) noexcept { charge_.emplace(std::move(charge)); }
  void set_device_side(std::unique_ptr<DeviceSide> side) noexcept {
    device_side_ = std::move(side);
  }

  // Returns a new close-on-exec descriptor of the file, which the caller closes. kUnsupported, with
  // the remedy, if the mapping has no descriptor itself.
  Result<int> duplicate_fd() const;

 private:
  // The key of the table of mappings: device, inode, writable.
  using Key = std::tuple<dev_t, ino_t, bool>;
  struct Cache;
  struct Source;

  Mapping() noexcept = default;
  static Cache& cache();
  static Result<std::shared_ptr<Mapping>> create_memfd(size_t bytes, const std::string& file_name);
  static Result<std::shared_ptr<Mapping>> create_dma_buf(MemorySource source, size_t bytes,
                                                         const std::string& file_name);
  static Result<std::shared_ptr<Mapping>> share_new(Source source, size_t bytes);
  static Result<std::shared_ptr<Mapping>> share(Source source, size_t bytes);
  static Result<std::shared_ptr<Mapping>> map(Source source, size_t bytes);
  enum class NoFile : uint8_t { kNoDescriptor, kForbidden };
  static Result<std::shared_ptr<Mapping>> map_anonymous(size_t bytes, NoFile why);
  static std::shared_ptr<Mapping> hold(void* data, size_t bytes);
  Status check_size(size_t bytes) const noexcept;

  UniqueFd fd_;  // may be empty
  NoFile why_no_file_ = NoFile::kNoDescriptor;
  std::optional<DescriptorClaim> claim_;  // the claim for fd_
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  bool writable_ = true;
  bool made_here_ = false;  // Millrace allocated the memory, in this process or another
  bool may_shrink_ = false;
  bool is_dma_buf_ = false;
  bool cached_ = false;
  Key key_;
  std::optional<HostAccessEntry> access_entry_;  // only if accesses must be begun and ended
  std::optional<BankCharge> charge_;
  std::unique_ptr<DeviceSide> device_side_;
};

}  // namespace millrace::memory
