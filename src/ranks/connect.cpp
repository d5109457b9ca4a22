#include "ranks/connect.h"

#include <fmt/format.h>

#include "base/process/plugin.h"

namespace millrace::ranks {
namespace {

Result<const PluginEntry*> load_plugin() {
  const std::filesystem::path path = plugin_path("ranks");
  const Result<void*> found = plugin_function(path, "millrace_ranks_plugin");
  if (!found.ok())
    return found.status().with_context("a program of several ranks needs libmillrace-ranks.so");
  const PluginEntry* const entry = reinterpret_cast<PluginFunction>(*found)();
  if (entry->version != kPluginVersion)
    return unsupported(fmt::format("{} was built for plugin version {}, libmillrace needs {}",
                                   path.string(), entry->version, kPluginVersion));
  return entry;
}

}  // namespace

Result<std::shared_ptr<MessageCommunicator>> connect(const MeetingOptions& options,
                                                     std::chrono::nanoseconds timeout) {
  MILLRACE_ASSIGN_OR_RETURN(const PluginEntry* const plugin, load_plugin());
  MILLRACE_ASSIGN_OR_RETURN(std::unique_ptr<Transport> transport, plugin->connect(options));
  return MessageCommunicator::make(std::move(transport), timeout);
}

}  // namespace millrace::ranks
