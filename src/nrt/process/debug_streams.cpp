#include "nrt/process/debug_streams.h"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>

#include "base/files/own_descriptor.h"

namespace millrace::nrt {

Result<int> DebugStreams::connect(int core) {
  const std::lock_guard lock(mutex_);
  if (streams_.contains(core))
    return invalid_argument(fmt::format("core {} has a debug client already", core));
  UniqueFd stream = own_descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stream) return io_error("eventfd", errno);
  return streams_.emplace(core, std::move(stream)).first->second.get();
}

bool DebugStreams::disconnect(int stream) {
  const std::lock_guard lock(mutex_);
  return std::erase_if(streams_, [&](const auto& of) { return of.second.get() == stream; }) != 0;
}

bool DebugStreams::is_connected(int stream) {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(streams_, [&](const auto& of) { return of.second.get() == stream; });
}

}  // namespace millrace::nrt
