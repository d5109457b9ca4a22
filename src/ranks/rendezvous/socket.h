// TCP sockets with limits, as the rendezvous needs them. No call is a cancellation point or
// raises a signal. Each function may be called from any thread.
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

// kDeadlineExceeded with that text, or kCancelled, once a limit has been reached.
Status check_limit(const Limit& limit, std::string_view late);

// Listens on the first address of that host that is one of this machine's, and on no other, on a
// port that an earlier process may have used a moment ago. kIoError, with the reason, when it is
// not this host or the port is taken.
Result<UniqueFd> listen_on(const Endpoint& endpoint);
// Tries one address of the host after another. Does not wait for one who does not listen yet:
// kIoError says so.
Result<UniqueFd> connect_to(const Endpoint& endpoint, const Limit& limit);
// Returns the numeric address of the network interface, in the family of `like`, a numeric address;
// an address is returned as it is. kInvalidArgument when there is no such interface or address.
Result<std::string> address_of_interface(const std::string& interface, const std::string& like);
// Returns whether the numeric address stands for all addresses of a host: 0.0.0.0, or ::.
bool is_any_address(const std::string& digits);
// The own address of a socket in digits, without the port.
Result<std::string> own_address(int socket);
// The port that a socket listens on.
Result<uint16_t> own_port(int socket);

// All bytes, or as check_limit, or kIoError when the connection has ended. The sockets do not
// block.
Status send_all(int socket, std::span<const std::byte> bytes, const Limit& limit);
Status receive_all(int socket, std::span<std::byte> bytes, const Limit& limit);

}  // namespace millrace::ranks
