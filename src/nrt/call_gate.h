// InCall: a call that is inside the library. Whoever takes something away from under the calls
// waits until those that may have seen it have left.
//
// A call enters and leaves with two plain stores on its own thread; the cost of ordering them is on
// the side of the one who waits (membarrier(2); where the system has none, calls pay for a fence).
#pragma once

namespace millrace::nrt {

class InCall {
 public:
  InCall() noexcept;
  ~InCall();
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;
};

// Returns when every call that had begun before has left, whatever it saw. Not inside a call.
void await_calls() noexcept;

}  // namespace millrace::nrt
