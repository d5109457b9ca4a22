// All sockets are non-blocking. Waits use poll() in short intervals, so that requests to stop are
// noticed.
#include "ranks/rendezvous/socket.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include "base/cancellation.h"
#include "base/files/own_descriptor.h"
#include "base/settings/environment.h"

namespace millrace::ranks {
namespace {

// The interval at which a wait checks its limit.
constexpr std::chrono::milliseconds kLookInterval(50);
// The time limit for connecting to one address of a host, which may have others.
constexpr std::chrono::seconds kAddressPatience(5);

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<Addresses> resolve(const Endpoint& endpoint) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(endpoint.host.c_str(), endpoint.port.c_str(), &hints, &found);
  if (error != 0)
    return Status(StatusCode::kIoError, fmt::format("cannot resolve host \"{}\": {}", endpoint.host,
                                                    gai_strerror(error)));
  return Addresses(found, &freeaddrinfo);
}

UniqueFd open_socket(const addrinfo& address) {
  return own_descriptor(socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

void set_option(int socket, int level, int option) noexcept {
  const int on = 1;
  setsockopt(socket, level, option, &on, sizeof(on));
}

// Waits until the socket is ready. Also returns OK if the socket has failed; its next use then
// fails.
Status await(int socket, short events, const Limit& limit) {
  for (;;) {
    const auto now = std::chrono::steady_clock::now();
    const auto end = std::clamp(limit.deadline, now, now + kLookInterval);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now);
    pollfd entry{socket, events, 0};
    const int ready = poll(&entry, 1, static_cast<int>(left.count()));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return io_error("poll", errno);
    MILLRACE_RETURN_IF_ERROR(check_limit(limit, "the deadline has passed"));
  }
}

// Transfers all bytes by `step(data, size)`, which calls send() or recv().
template <class Byte, class Step>
Status move_all(int socket, std::span<Byte> bytes, short events, const Limit& limit, Step&& step) {
  const CancellationOff whole;
  while (!bytes.empty()) {
    const ssize_t moved = step(bytes.data(), bytes.size());
    if (moved > 0)
      bytes = bytes.subspan(static_cast<size_t>(moved));
    else if (moved == 0)
      return {StatusCode::kIoError, "the connection has ended"};
    else if (errno == EAGAIN)
      MILLRACE_RETURN_IF_ERROR(await(socket, events, limit));
    else if (errno != EINTR)
      return io_error("the connection has ended", errno);
  }
  return {};
}

Status finish_connecting(int socket, const Limit& limit) {
  MILLRACE_RETURN_IF_ERROR(await(socket, POLLOUT, limit));
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? Status() : io_error("it does not answer", error);
}

Result<std::string> digits_of(const sockaddr* address, socklen_t size) {
  char digits[NI_MAXHOST];
  const int error = getnameinfo(address, size, digits, sizeof(digits), nullptr, 0, NI_NUMERICHOST);
  if (error != 0) return Status(StatusCode::kIoError, gai_strerror(error));
  return std::string(digits);
}

// Returns the family of a numeric address; AF_UNSPEC for any other text.
int family_of(const std::string& text) noexcept {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (getaddrinfo(text.c_str(), nullptr, &hints, &found) != 0) return AF_UNSPEC;
  const Addresses addresses(found, &freeaddrinfo);
  return addresses->ai_family;
}

Result<sockaddr_storage> name_of(int socket) {
  sockaddr_storage name{};
  socklen_t size = sizeof(name);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&name), &size) != 0)
    return io_error("getsockname", errno);
  return name;
}

// Returns whether a socket is connected to itself. If no process listens at an ephemeral port of
// this host, the system may give the same port to the connecting socket (TCP simultaneous open).
bool is_its_own_peer(int socket) noexcept {
  sockaddr_storage own{}, peer{};
  socklen_t own_size = sizeof(own), peer_size = sizeof(peer);
  return getsockname(socket, reinterpret_cast<sockaddr*>(&own), &own_size) == 0 &&
         getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0 &&
         own_size == peer_size && std::memcmp(&own, &peer, own_size) == 0;
}

bool starts_listening(int socket, const addrinfo& address) noexcept {
  set_option(socket, SOL_SOCKET, SO_REUSEADDR);
  return bind(socket, address.ai_addr, address.ai_addrlen) == 0 && listen(socket, SOMAXCONN) == 0;
}

Result<UniqueFd> connect_at(const addrinfo& address, const Limit& limit) {
  UniqueFd connection = open_socket(address);
  if (!connection) return io_error("socket", errno);
  if (connect(connection.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return io_error("it does not answer", errno);
    const Limit one{std::min(limit.deadline, std::chrono::steady_clock::now() + kAddressPatience),
                    limit.stop};
    MILLRACE_RETURN_IF_ERROR(finish_connecting(connection.get(), one));
  }
  if (is_its_own_peer(connection.get()))
    return Status(StatusCode::kIoError, "it does not listen yet");
  set_option(connection.get(), IPPROTO_TCP, TCP_NODELAY);
  return connection;
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view text) {
  const size_t colon = text.rfind(':');
  const std::string_view port = colon == text.npos ? "" : text.substr(colon + 1);
  std::string_view host = text.substr(0, std::min(colon, text.size()));
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  const Result<uint64_t> number = parse_number(port);
  if (host.empty() || !number.ok() || *number == 0 || *number > 65535)
    return invalid_argument(
        fmt::format("\"{}\" is not a host and port, such as 10.0.0.1:5000", text));
  return Endpoint{std::string(host), std::string(port)};
}

Status check_limit(const Limit& limit, std::string_view late) {
  if (limit.stop != nullptr && limit.stop->stop_requested())
    return {StatusCode::kCancelled, "a stop was requested"};
  if (std::chrono::steady_clock::now() < limit.deadline) return {};
  return {StatusCode::kDeadlineExceeded, std::string(late)};
}

Result<UniqueFd> listen_on(const Endpoint& endpoint) {
  const CancellationOff whole;
  MILLRACE_ASSIGN_OR_RETURN(const Addresses addresses, resolve(endpoint));
  int error = EADDRNOTAVAIL;
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    UniqueFd listener = open_socket(*address);
    if (listener && starts_listening(listener.get(), *address)) return listener;
    error = errno;
    // If the port is taken, no other address is tried: the other ranks might connect to the process
    // that owns the port.
    if (error != EADDRNOTAVAIL && error != EAFNOSUPPORT) break;
  }
  return io_error(fmt::format("cannot listen on {}:{}", endpoint.host, endpoint.port), error);
}

Result<UniqueFd> connect_to(const Endpoint& endpoint, const Limit& limit) {
  const CancellationOff whole;
  MILLRACE_ASSIGN_OR_RETURN(const Addresses addresses, resolve(endpoint));
  Result<UniqueFd> tried = Status(StatusCode::kIoError, "it has no address");
  for (const addrinfo* address = addresses.get();
       address != nullptr && !tried.ok() && tried.status().code() != StatusCode::kCancelled;
       address = address->ai_next)
    tried = connect_at(*address, limit);
  return tried;
}

Result<std::string> own_address(int socket) {
  MILLRACE_ASSIGN_OR_RETURN(const sockaddr_storage name, name_of(socket));
  return digits_of(reinterpret_cast<const sockaddr*>(&name), sizeof(name));
}

Result<std::string> address_of_interface(const std::string& interface, const std::string& like) {
  if (family_of(interface) != AF_UNSPEC) return interface;
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) return io_error("getifaddrs", errno);
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> interfaces(found, &freeifaddrs);
  const int family = family_of(like);
  for (const ifaddrs* each = found; each != nullptr; each = each->ifa_next)
    if (each->ifa_addr != nullptr && each->ifa_addr->sa_family == family &&
        interface == each->ifa_name)
      return digits_of(each->ifa_addr,
                       family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  return invalid_argument(fmt::format(
      "\"{}\" is not a network interface of this host with an address of the family of {}",
      interface, like));
}

bool is_any_address(const std::string& digits) {
  return digits == "0.0.0.0" || digits == "::";
}

Result<uint16_t> own_port(int socket) {
  MILLRACE_ASSIGN_OR_RETURN(const sockaddr_storage name, name_of(socket));
  return ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(name).sin6_port
                                          : reinterpret_cast<const sockaddr_in&>(name).sin_port);
}

Status send_all(int socket, std::span<const std::byte> bytes, const Limit& limit) {
  return move_all(socket, bytes, POLLOUT, limit, [&](const std::byte* data, size_t size) {
    return send(socket, data, size, MSG_NOSIGNAL);
  });
}

Status receive_all(int socket, std::span<std::byte> bytes, const Limit& limit) {
  return move_all(socket, bytes, POLLIN, limit,
                  [&](std::byte* data, size_t size) { return recv(socket, data, size, 0); });
}

}  // namespace millrace::ranks
