// EndingSignals: SIGTERM and SIGINT end the program, in the way that fits its state.
//
//   models are loaded  -> the signal ends the program at once
//   serving            -> wait() returns
//   afterwards         -> the signal ends the program at once
//
// "At once" is exit code 128 + the number of the signal. Signals without a handler would not end a
// program that is the first of its container.
#pragma once

#include <csignal>
#include <memory>

#include "base/status.h"

namespace millrace::cli {

class EndingSignals {
 public:
  // Blocks the signals in this thread, and so in those that it starts; a thread waits for them.
  // kResourceExhausted if the system refuses it.
  static Result<EndingSignals> start();

  // The models have been loaded.
  void serve();
  // Waits for a signal.
  void wait();

 private:
  struct State;
  explicit EndingSignals(std::shared_ptr<State> state) : state_(std::move(state)) {}
  static void watch(const sigset_t& signals, State& state);

  std::shared_ptr<State> state_;
};

}  // namespace millrace::cli
