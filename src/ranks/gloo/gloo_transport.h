// Messages between processes over TCP, by the point-to-point part of Gloo. Its collectives are not
// used: their order of sums depends on the size of the data, and a rank that does not come
// leaves the others with a text that does not name it.
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "ranks/rendezvous/meeting.h"
#include "ranks/transport.h"

namespace millrace::ranks {

// Meets the other ranks as the options say, and connects to all of them. Blocks until it has, or
// until the deadline, with a failure that names who is missing.
Result<std::unique_ptr<Transport>> connect_gloo_transport(const MeetingOptions& options);

}  // namespace millrace::ranks
