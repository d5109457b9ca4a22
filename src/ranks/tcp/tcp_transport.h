// The transport between processes over TCP, with one connection for each pair of ranks. One thread
// per rank waits for all its connections (epoll) and reads. The sending thread writes a message
// itself, as far as that does not block.
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "ranks/rendezvous/meeting.h"
#include "ranks/transport.h"

namespace millrace::ranks {

// Meets the other ranks and connects to all of them. Blocks until that is done or a limit of the
// options is reached; the failure names the missing ranks.
Result<std::unique_ptr<Transport>> connect_tcp_transport(const MeetingOptions& options);

}  // namespace millrace::ranks
