// UringNop: a peer for queue_bench: io_uring with requests that do nothing (NOP), which measures
// the cost of the kernel's submission and completion rings. The kernel completes a NOP inside the
// system call that submits it. Not thread-safe.
#pragma once

#include <liburing.h>

#include <cstring>
#include <string>

namespace millrace::bench {

class UringNop {
 public:
  explicit UringNop(unsigned entries) : error_(-io_uring_queue_init(entries, &ring_, 0)) {}
  ~UringNop() {
    if (error_ == 0) io_uring_queue_exit(&ring_);
  }
  UringNop(const UringNop&) = delete;
  UringNop& operator=(const UringNop&) = delete;

  // Returns why io_uring cannot be used; empty if it can.
  std::string unavailable() const {
    if (error_ == 0) return {};
    return std::string("io_uring is not available: ") + std::strerror(error_);
  }

  // Submits `count` requests, at most `entries`, with one system call and collects their
  // completions. Requirement: unavailable() is empty.
  void run(unsigned count) {
    for (unsigned i = 0; i < count; ++i) io_uring_prep_nop(io_uring_get_sqe(&ring_));
    io_uring_submit_and_wait(&ring_, count);
    io_uring_cq_advance(&ring_, count);
  }

 private:
  io_uring ring_{};
  int error_;
};

}  // namespace millrace::bench
