#include "cli/serve/ending_signals.h"

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/process/thread.h"

namespace millrace::cli {
namespace {

constexpr int kFirstSignalCode = 128;

[[noreturn]] void end_at_once(int signal, std::string_view line) {
  // Nobody may read this any more.
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  ::_exit(kFirstSignalCode + signal);
}

}  // namespace

struct EndingSignals::State {
  enum class Phase { kLoading, kServing, kEnding };
  std::mutex mutex;
  std::condition_variable changed;
  Phase phase = Phase::kLoading;
  std::function<void()> on_hang_up;
  bool was_hung_up = false;  // while models were loaded
};

Result<EndingSignals> EndingSignals::start(bool with_hang_up) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  if (with_hang_up) sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  auto state = std::make_shared<State>();
  auto thread = start_thread("millrace-signal", [state, signals] { watch(signals, *state); });
  if (!thread.ok()) return thread.status();
  thread->detach();
  return EndingSignals(std::move(state));
}

void EndingSignals::watch(const sigset_t& signals, State& state) {
  while (true) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    const std::lock_guard lock(state.mutex);
    if (signal == SIGHUP) {
      if (state.phase == State::Phase::kLoading) state.was_hung_up = true;
      if (state.phase == State::Phase::kServing && state.on_hang_up) state.on_hang_up();
      continue;
    }
    if (state.phase == State::Phase::kLoading)
      end_at_once(signal, "millrace serve: ended while models were loaded\n");
    if (state.phase == State::Phase::kEnding)
      end_at_once(signal, "millrace serve: ended before accepted requests were answered\n");
    state.phase = State::Phase::kEnding;
    state.changed.notify_all();
  }
}

void EndingSignals::serve(std::function<void()> on_hang_up) {
  const std::lock_guard lock(state_->mutex);
  state_->on_hang_up = std::move(on_hang_up);
  state_->phase = State::Phase::kServing;
  if (state_->was_hung_up && state_->on_hang_up) state_->on_hang_up();
}

void EndingSignals::wait() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->phase == State::Phase::kEnding; });
}

}  // namespace millrace::cli
