// Mapping: the first bytes of a file in this process's memory, with the descriptor that keeps the
// file alive.
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
#include <tuple>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::memory {

class Mapping {
 public:
  // A new memfd of that size, zero-filled, whose size nobody can change. kOutOfMemory when it
  // cannot be had.
  static Result<std::shared_ptr<Mapping>> create(size_t bytes);
  // The first `bytes` bytes of the file behind `fd`, which stays the caller's.
  static Result<std::shared_ptr<Mapping>> open(int fd, size_t bytes);

  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  std::byte* data() const noexcept { return data_; }
  bool writable() const noexcept { return writable_; }

  // A new close-on-exec descriptor of the file, owned by the caller.
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

  UniqueFd fd_;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  bool writable_ = false;
  bool cached_ = false;
  Key key_;
  mutable std::atomic<bool> may_be_dma_buf_{false};
};

}  // namespace millrace::memory
