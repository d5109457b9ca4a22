#include "bench/ranks/meeting_place.h"

#include <fmt/format.h>

#include "ranks/rendezvous/socket.h"

namespace millrace::bench {

std::string free_meeting_place() {
  const UniqueFd socket = ranks::listen_on({.host = "127.0.0.1", .port = "0"}).value();
  return fmt::format("127.0.0.1:{}", ranks::own_port(socket.get()).value());
}

}  // namespace millrace::bench
