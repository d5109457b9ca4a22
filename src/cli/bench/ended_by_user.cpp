#include "cli/bench/ended_by_user.h"

namespace millrace::cli {
namespace {

std::atomic<bool> ended_by_signal{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a handler of signals may write it");

void note_signal(int) {
  ended_by_signal = true;
}

}  // namespace

EndedByUser::EndedByUser() {
  ended_by_signal = false;
  ::sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler != SIG_DFL) return;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
}

EndedByUser::~EndedByUser() {
  ::sigaction(SIGINT, &before_, nullptr);
}

const std::atomic<bool>* EndedByUser::flag() noexcept {
  return &ended_by_signal;
}

}  // namespace millrace::cli
