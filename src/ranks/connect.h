// connect(): creates the communicator of a process that is one of several ranks. It loads the
// transport, a plugin (libmillrace-ranks.so), which programs with a single rank never load.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "ranks/message_communicator.h"
#include "ranks/rendezvous/meeting.h"

namespace millrace::ranks {

// Meets the other ranks and connects to them. Operations of the communicator fail if they take
// longer than `timeout`; zero means no limit. kNotFound or kUnsupported without a suitable plugin;
// otherwise fails as Meeting::open and Meeting::exchange. Thread-safe; may be called again after a
// failure.
Result<std::shared_ptr<MessageCommunicator>> connect(const MeetingOptions& options,
                                                     std::chrono::nanoseconds timeout);

// The one C entry point of the plugin, `millrace_ranks_plugin`.
inline constexpr uint32_t kPluginVersion = 3;
struct PluginEntry {
  uint32_t version;  // kPluginVersion of the header it was built with
  Result<std::unique_ptr<Transport>> (*connect)(const MeetingOptions& options);
};
using PluginFunction = const PluginEntry* (*)();

}  // namespace millrace::ranks
