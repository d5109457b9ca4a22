// How a process that is one of several ranks gets its communicator. The transport is a plugin,
// libmillrace-ranks.so, which is loaded here and nowhere else: a program that is alone never loads
// it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "ranks/message_communicator.h"
#include "ranks/rendezvous/meeting.h"

namespace millrace::ranks {

// Meets the other ranks as the options say, and connects to them. Operations fail that take longer
// than `timeout`; zero is no limit. kNotFound or kUnsupported without the plugin, and as
// Meeting::open and Meeting::exchange. May be called from any thread, and again after a failure.
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
