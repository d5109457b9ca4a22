// Mapping: the first bytes of a file in this process's memory, with the descriptor that gives
// others the file.
//
// A mapping that is made, not opened, goes without a descriptor where the process is short of them
// (descriptor_claim.h): then nobody else can have the memory, and all else is as ever.
//
// One file is mapped once per kind of access: opening it again while a large enough mapping lives
// returns that mapping. Only regular files (memfds among them) are recognised as one file; a
// dma-buf gets a mapping of its own each time, of the same pages.
//
// All functions may be called from any thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
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

namespace millrace::memory {

// Memfds are named so, for who looks at /proc: memory that is in no bank, and before a bank's name.
inline constexpr const char* kFileName = "millrace";
inline constexpr std::string_view kBankFilePrefix = "millrace:";

class Mapping {
 public:
  // A new memfd of that size, zero-filled, whose size nobody can change; memory in no file where
  // the process has no descriptor left at all. kOutOfMemory when it cannot be had.
  static Result<std::shared_ptr<Mapping>> create(size_t bytes,
                                                 const std::string& file_name = kFileName);
  // The first `bytes` bytes of the file behind `fd`, which stays the caller's.
  static Result<std::shared_ptr<Mapping>> open(int fd, size_t bytes);

  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  std::byte* data() const noexcept { return data_; }
  bool writable() const noexcept { return writable_; }
  // Null where host and device share the memory.
  DeviceSide* device_side() const noexcept { return device_side_.get(); }

  // Of a mapping just made, before anybody else has it: what goes with the memory.
  void set_charge(BankCharge charge) noexcept { charge_.emplace(std::move(charge)); }
  void set_device_side(std::unique_ptr<DeviceSide> side) noexcept {
    device_side_ = std::move(side);
  }

  // A new close-on-exec descriptor of the file, owned by the caller. kUnsupported, with what to do
  // about it, where the mapping has none itself.
  Result<int> duplicate_fd() const;

  // Ends (towards the device) or begins (towards the host) the processor's access, where the file
  // is a dma-buf; does nothing for other files.
  Status sync(bool towards_host) const;

 private:
  // Which file and how: device, inode, writable.
  using Key = std::tuple<dev_t, ino_t, bool>;
  struct Cache;
  struct Source;

  Mapping() noexcept = default;
  static Cache& cache();
  static Result<std::shared_ptr<Mapping>> share(Source source, size_t bytes);
  static Result<std::shared_ptr<Mapping>> map(Source source, size_t bytes);
  static Result<std::shared_ptr<Mapping>> map_anonymous(size_t bytes);
  static std::shared_ptr<Mapping> hold(void* data, size_t bytes);

  UniqueFd fd_;                           // may be none
  std::optional<DescriptorClaim> claim_;  // on fd_
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  bool writable_ = true;
  bool cached_ = false;
  Key key_;
  mutable std::atomic<bool> may_be_dma_buf_{false};
  std::optional<BankCharge> charge_;
  std::unique_ptr<DeviceSide> device_side_;
};

}  // namespace millrace::memory
