// SocketAddress: an IPv4 or IPv6 address with a port. A value type.
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
  // Parses a numeric address. kInvalidArgument for other text: host names are not resolved.
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

// Returns the local address from which the host `peer` is reached, with port 0. kIoError where
// there is no route to it.
Result<SocketAddress> local_address_towards(const SocketAddress& peer);

}  // namespace millrace::nrt::sendrecv
