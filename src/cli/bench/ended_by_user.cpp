#include "cli/bench/ended_by_user.h"

#include <chrono>

namespace millrace::cli {
namespace {

using std::chrono::steady_clock;

// The signal of one keypress may come twice: `timeout` and some shells send it to the process and
// to its group.
constexpr steady_clock::duration kSameKeypress = std::chrono::milliseconds(200);

std::atomic<bool> ended_by_signal{false};
std::atomic<steady_clock::rep> first_signal{0};
static_assert(std::atomic<bool>::is_always_lock_free &&
                  std::atomic<steady_clock::rep>::is_always_lock_free,
              "a handler of signals may write them");

void note_signal(int signal) {
  const steady_clock::rep now = steady_clock::now().time_since_epoch().count();
  steady_clock::rep first = 0;
  ended_by_signal = true;
  if (first_signal.compare_exchange_strong(first, now)) return;
  if (steady_clock::duration(now - first) < kSameKeypress) return;
  // The signal is blocked until this handler returns; then it ends the process.
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

EndedByUser::EndedByUser() {
  ended_by_signal = false;
  first_signal = 0;
  ::sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler != SIG_DFL) return;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
}

EndedByUser::~EndedByUser() {
  ::sigaction(SIGINT, &before_, nullptr);
}

const std::atomic<bool>* EndedByUser::flag() noexcept {
  return &ended_by_signal;
}

}  // namespace millrace::cli
