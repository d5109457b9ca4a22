#include "serve/http/remote.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cstring>

namespace millrace::serve {

std::string remote_of(const Socket& socket) {
  error_code error;
  const auto peer = socket.remote_endpoint(error);
  if (error) return {};
  if (peer.protocol().family() == AF_UNIX) return "unix";
  tcp::endpoint endpoint;
  if (peer.size() > endpoint.capacity()) return {};
  endpoint.resize(peer.size());
  std::memcpy(endpoint.data(), peer.data(), peer.size());
  const std::string host = endpoint.address().to_string();
  if (endpoint.address().is_v6()) return fmt::format("[{}]:{}", host, endpoint.port());
  return fmt::format("{}:{}", host, endpoint.port());
}

}  // namespace millrace::serve
