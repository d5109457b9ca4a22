#include "ranks/rendezvous/waiting_log.h"

#include <fmt/format.h>

#include <utility>

#include "base/contained.h"
#include "base/log.h"

namespace millrace::ranks {

WaitingLog::WaitingLog(StopCheck* inner, std::chrono::nanoseconds interval,
                       std::function<std::string()> missing)
    : inner_(inner), interval_(interval), missing_(std::move(missing)), next_(began_ + interval_) {}

bool WaitingLog::stop_requested() noexcept {
  if (const Clock::time_point now = Clock::now(); now >= next_) {
    next_ = now + interval_;
    // If there is no memory for the line, it is not logged.
    static_cast<void>(contained([&] {
      log(LogLevel::kWarning, "ranks",
          fmt::format("{} after {:.0f} s; waiting goes on", missing_(),
                      std::chrono::duration<double>(now - began_).count()));
      return Status();
    }));
  }
  return inner_ != nullptr && inner_->stop_requested();
}

}  // namespace millrace::ranks
