// TCP sockets with time limits, for the rendezvous. No function is a cancellation point or raises a
// signal. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/unique_fd.h"
#include "ranks/communicator.h"

namespace millrace::ranks {

// A host, by name or number, and a port: "10.0.0.1:5000", "node0:5000", "[::1]:5000".
struct Endpoint {
  std::string host;
  std::string port;
};
Result<Endpoint> parse_endpoint(std::string_view text);

// Returns kDeadlineExceeded with the text `late` after the deadline, or kCancelled if a stop is
// requested; otherwise OK.
Status check_limit(const Limit& limit, std::string_view late);

// Listens on the first address of that host that belongs to this machine. The port may have been in
// use by an earlier process until just before (SO_REUSEADDR). kIoError, with the reason, if the
// host is not this one or the port is taken.
Result<UniqueFd> listen_on(const Endpoint& endpoint);
// Connects to the first address of the host that accepts. Does not wait for a process that does not
// listen yet: then it fails with kIoError.
Result<UniqueFd> connect_to(const Endpoint& endpoint, const Limit& limit);
// Returns the numeric address of a network interface, in the address family of `like`, which is a
// numeric address. If `interface` is itself a numeric address, returns it. kInvalidArgument if
// there is no such interface or address.
Result<std::string> address_of_interface(const std::string& interface, const std::string& like);
// Returns whether the numeric address is the wildcard address: 0.0.0.0, or ::.
bool is_any_address(const std::string& digits);
// Returns the numeric local address of a socket, without the port.
Result<std::string> own_address(int socket);
// Returns the local port of a socket.
Result<uint16_t> own_port(int socket);

// Send or receive all bytes on a non-blocking socket. Fail as check_limit when a limit is reached,
// and with kIoError when the connection has ended.
Status send_all(int socket, std::span<const std::byte> bytes, const Limit& limit);
Status receive_all(int socket, std::span<std::byte> bytes, const Limit& limit);

}  // namespace millrace::ranks
