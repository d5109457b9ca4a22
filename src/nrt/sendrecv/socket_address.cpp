#include "nrt/sendrecv/socket_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/files/own_descriptor.h"
#include "base/unique_fd.h"

namespace millrace::nrt::sendrecv {
namespace {

template <class Address>
Address as(const sockaddr_storage& storage) noexcept {
  Address address;
  std::memcpy(&address, &storage, sizeof address);
  return address;
}

}  // namespace

Result<SocketAddress> SocketAddress::parse(const char* ip, uint16_t port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(ip, nullptr, &hints, &found) != 0)
    return invalid_argument(fmt::format("\"{}\" is not a numeric IP address", ip));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  sockaddr_storage storage{};
  std::memcpy(&storage, found->ai_addr, found->ai_addrlen);
  return SocketAddress(storage, found->ai_addrlen).with_port(port);
}

SocketAddress SocketAddress::with_port(uint16_t port) const noexcept {
  SocketAddress changed = *this;
  auto* const address = reinterpret_cast<std::byte*>(&changed.address_);
  const in_port_t number = htons(port);
  const size_t at =
      family() == AF_INET6 ? offsetof(sockaddr_in6, sin6_port) : offsetof(sockaddr_in, sin_port);
  std::memcpy(address + at, &number, sizeof number);
  return changed;
}

bool SocketAddress::same_host(const SocketAddress& other) const noexcept {
  if (family() != other.family()) return false;
  if (family() == AF_INET)
    return as<sockaddr_in>(address_).sin_addr.s_addr ==
           as<sockaddr_in>(other.address_).sin_addr.s_addr;
  const auto own = as<sockaddr_in6>(address_), its = as<sockaddr_in6>(other.address_);
  return std::memcmp(&own.sin6_addr, &its.sin6_addr, sizeof own.sin6_addr) == 0;
}

std::string SocketAddress::ip() const {
  char text[NI_MAXHOST] = "";
  return ::getnameinfo(get(), size_, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0
             ? text
             : "an unknown address";
}

// Connecting a datagram socket sends no packet; the system only chooses the route.
Result<SocketAddress> local_address_towards(const SocketAddress& peer) {
  const UniqueFd probe = own_descriptor(::socket(peer.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const SocketAddress somewhere = peer.with_port(9);
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (!probe || ::connect(probe.get(), somewhere.get(), somewhere.size()) != 0 ||
      ::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0)
    return io_error(fmt::format("there is no route to {}", peer.ip()), errno);
  return SocketAddress(own, size).with_port(0);
}

}  // namespace millrace::nrt::sendrecv
