#include "check/busy_polls.h"

namespace millrace::check {

bool BusyPolls::count(int64_t now_ns, int64_t processor_ns, uint64_t completions) noexcept {
  constexpr int64_t kMillisecond = 1'000'000;
  if (processor_ns - processor_begin_ns_ >= kMillisecond) {
    const bool busy = polls_ > kMostPerMillisecond && now_ns - begin_ns_ < kLongestNs;
    busy_ = busy && completions == completions_ ? busy_ + 1 : 0;
    begin_ns_ = now_ns;
    processor_begin_ns_ = processor_ns;
    completions_ = completions;
    polls_ = 0;
  }
  ++polls_;
  if (busy_ < kMilliseconds) return false;
  busy_ = 0;
  return true;
}

}  // namespace millrace::check
