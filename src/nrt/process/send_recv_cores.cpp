#include "nrt/process/send_recv_cores.h"

#include <fmt/format.h>

#include "nrt/process/settings.h"

namespace millrace::nrt {
namespace {

Status not_open(int core) {
  return invalid_argument(fmt::format("core {} is not open for sends and receives", core));
}

}  // namespace

Status SendRecvCores::open(int core) {
  MILLRACE_ASSIGN_OR_RETURN(const uint32_t total, total_cores());
  if (core < 0 || static_cast<uint32_t>(core) >= total)
    return invalid_argument(fmt::format("there is no core {}: the host has {}", core, total));
  const std::lock_guard lock(mutex_);
  if (open_.insert(core).second) return {};
  return invalid_argument(fmt::format("core {} is open for sends and receives already", core));
}

Status SendRecvCores::close(int core) {
  const std::lock_guard lock(mutex_);
  return open_.erase(core) != 0 ? Status() : not_open(core);
}

Status SendRecvCores::check_open(int core) {
  const std::lock_guard lock(mutex_);
  return open_.contains(core) ? Status() : not_open(core);
}

}  // namespace millrace::nrt
