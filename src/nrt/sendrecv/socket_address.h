// SocketAddress: an IP address and a port. A value.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "base/status.h"

namespace millrace::nrt::sendrecv {

class SocketAddress {
 public:
  SocketAddress() noexcept = default;  // no address
  SocketAddress(const sockaddr_storage& address, socklen_t size) noexcept
      : address_(address), size_(size) {}
  // kInvalidArgument for text that is no IPv4 or IPv6 address: names are not looked up.
  static Result<SocketAddress> parse(const char* ip, uint16_t port);

  SocketAddress with_port(uint16_t port) const noexcept;
  bool same_host(const SocketAddress& other) const noexcept;
  std::string ip() const;

  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t size() const noexcept { return size_; }
  int family() const noexcept { return address_.ss_family; }

 private:
  sockaddr_storage address_{};
  socklen_t size_ = 0;
};

// This host's address on the way to `peer`, with port 0: what a peer that is named so is reached
// from, and what it reaches. kIoError where there is no way.
Result<SocketAddress> local_address_towards(const SocketAddress& peer);

}  // namespace millrace::nrt::sendrecv
