// EndingSignals: SIGTERM and SIGINT end the program, in the way that fits its state. SIGHUP may do
// something else while it serves.
//
//   models are loaded  -> the signal ends the program at once
//   serving            -> wait() returns
//   afterwards         -> the signal ends the program at once
//
// "At once" is exit code 128 + the number of the signal. Signals without a handler would not end a
// program that is the first of its container.
#pragma once

#include <csignal>
#include <functional>
#include <memory>

#include "base/status.h"

namespace millrace::cli {

class EndingSignals {
 public:
  // Blocks the signals in this thread, and so in those that it starts; a thread waits for them.
  // kResourceExhausted if the system refuses it.
  // SIGHUP is one of them if that is wanted; otherwise it ends the program, as usual.
  static Result<EndingSignals> start(bool with_hang_up = false);

  // The models have been loaded. The function is called for each SIGHUP until wait() returns.
  void serve(std::function<void()> on_hang_up = {});
  // Waits for a signal.
  void wait();

 private:
  struct State;
  explicit EndingSignals(std::shared_ptr<State> state) : state_(std::move(state)) {}
  static void watch(const sigset_t& signals, State& state);

  std::shared_ptr<State> state_;
};

}  // namespace millrace::cli
