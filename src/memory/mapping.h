// Mapping: the first bytes of a file, mapped into this process's memory, with a descriptor through
// which other processes can map the file, too.
//
// A mapping of a new file keeps no descriptor where the process is short of them
// (descriptor_claim.h), and has no file where the system forbids it. Such memory cannot be shared,
// and is the same in all other respects. A dma-buf always keeps its descriptor, through which the
// kernel is told of accesses.
//
// One file is mapped once per kind of access: opening it again while a large enough mapping lives
// returns that mapping. This works for regular files, memfds among them, and for dma-bufs. The
// mappings of files of other origin that were opened last stay for a while without users
// (kept_mappings.h). A mapping is found by device and inode, which are not given to another file
// while it lives.
//
// Thread-safe. A forked child gets no further mapping (kForked), and may unmap those it has.
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

// The names of memfds and of dma-bufs, as they appear in /proc: for memory outside of all banks,
// and the prefix of the name of a bank.
inline constexpr const char* kFileName = "millrace";
inline constexpr std::string_view kBankFilePrefix = "millrace:";

class Mapping {
 public:
  // New memory, zero-filled, whose size cannot change. From memfd it is anonymous memory where the
  // process has no descriptor left at all, or the system forbids memfds (which is logged once).
  // kOutOfMemory when it cannot be allocated; kUnsupported, with the device node and the system's
  // reason, where the process may not use another source.
  static Result<std::shared_ptr<Mapping>> create(MemorySource source, size_t bytes,
                                                 const std::string& file_name = kFileName);
  // The first `bytes` bytes of the file behind `fd`, which the caller still owns. kOutOfMemory when
  // the process may not have more memory.
  static Result<std::shared_ptr<Mapping>> open(int fd, size_t bytes);

  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  std::byte* data() const noexcept { return data_; }
  size_t bytes() const noexcept { return bytes_; }
  bool writable() const noexcept { return writable_; }
  // Null where host and device share the memory.
  DeviceSide* device_side() const noexcept { return device_side_.get(); }

  // Whether the file can be truncated: it is a regular one without a seal against that. Accessing
  // the lost pages would end the process with SIGBUS.
  bool may_shrink() const noexcept { return may_shrink_; }
  bool is_dma_buf() const noexcept { return is_dma_buf_; }
  // Begin and end an access to the first `bytes` bytes, as described at HostAccess.
  Status begin_access(size_t bytes, Access access) const noexcept;
  Status end_access(Access access) const noexcept;

  // Attach what lives as long as the memory, to a new mapping that no other thread can use yet.
  void set_charge(BankCharge charge) noexcept { charge_.emplace(std::move(charge)); }
  void set_device_side(std::unique_ptr<DeviceSide> side) noexcept {
    device_side_ = std::move(side);
  }

  // A new close-on-exec descriptor of the file, owned by the caller. kUnsupported, with the remedy,
  // where the mapping has no descriptor itself.
  Result<int> duplicate_fd() const;

 private:
  // The file and the kind of access: device, inode, writable.
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
  std::optional<DescriptorClaim> claim_;  // on fd_
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  bool writable_ = true;
  bool made_here_ = false;  // memory that Millrace made, in this process or another
  bool may_shrink_ = false;
  bool is_dma_buf_ = false;
  bool cached_ = false;
  Key key_;
  std::optional<HostAccessEntry> access_entry_;  // where accesses need anything
  std::optional<BankCharge> charge_;
  std::unique_ptr<DeviceSide> device_side_;
};

}  // namespace millrace::memory
