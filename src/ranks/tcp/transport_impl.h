// TcpTransport: holds the connections to all other ranks, and the thread that waits for them by
// epoll.
#pragma once

#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"
#include "ranks/tcp/connection.h"
#include "ranks/transport.h"

namespace millrace::ranks {

class TcpTransport final : public Transport {
 public:
  // Takes ownership of `sockets`, which are connected, non-blocking and indexed by rank; the one at
  // `rank` is empty.
  static Result<std::unique_ptr<Transport>> start(uint32_t rank, std::vector<UniqueFd> sockets);
  ~TcpTransport() override;

  uint32_t rank() const noexcept override { return rank_; }
  uint32_t size() const noexcept override { return static_cast<uint32_t>(connections_.size()); }
  Result<std::unique_ptr<Window>> open_window(std::span<std::byte> memory) override;
  void close() noexcept override;

  // Windows call this.
  Connection& connection(uint32_t peer) noexcept { return *connections_[peer]; }
  void forget(TcpWindow& window) noexcept;

 private:
  TcpTransport(uint32_t rank, UniqueFd epoll, UniqueFd ends) noexcept
      : rank_(rank), epoll_(std::move(epoll)), ends_(std::move(ends)) {}
  void run() noexcept;

  const uint32_t rank_;
  const UniqueFd epoll_;
  const UniqueFd ends_;  // an eventfd that is readable when the thread has to end
  std::vector<std::unique_ptr<Connection>> connections_;  // indexed by rank; null for this one
  std::thread thread_;
};

}  // namespace millrace::ranks
