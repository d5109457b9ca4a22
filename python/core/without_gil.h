// Running code that waits or computes without the GIL.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/main_thread.h"
#include "millrace/execution.hpp"

namespace millrace::python {

// Python raises KeyboardInterrupt only between two calls of its own, so waits are divided into
// slices of this length, and signals are looked at after each.
inline constexpr std::chrono::milliseconds kWaitSlice(50);

inline bool is_finalizing() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

// Calls `function`, which must not throw, without the GIL, and returns its result.
//
// A thread that wants the GIL back while the interpreter ends is ended by Python, which unwinds its
// stack; C++ ends the process where that meets a destructor. Such a thread sleeps here instead,
// until the process has ended.
template <class Function>
auto without_gil(Function&& function) {
  PyThreadState* const state = PyEval_SaveThread();
  auto result = std::forward<Function>(function)();
  while (is_finalizing() && !is_main_thread()) pause();
  PyEval_RestoreThread(state);
  return result;
}

// Returns the time until `limit`, at most a slice.
inline std::chrono::nanoseconds next_slice(Deadline limit) {
  if (limit == kNoDeadline) return kWaitSlice;
  const auto rest = limit - std::chrono::steady_clock::now();
  return std::clamp<std::chrono::nanoseconds>(rest, std::chrono::nanoseconds(0), kWaitSlice);
}

inline bool has_passed(Deadline limit) {
  return limit != kNoDeadline && std::chrono::steady_clock::now() >= limit;
}

}  // namespace millrace::python
