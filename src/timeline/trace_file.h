// The file that MILLRACE_TRACE names: the timeline of this process, whichever API it uses.
// Recording begins when the first device is opened. The file is written when the last device has
// closed, when the process exits, and when signals or failures ask for it (dump_on_signals.h), each
// time with everything since the beginning, and atomically replaces an existing one.
//
// MILLRACE_FLIGHT_RECORDER names a file for the last events, as many as a recording may cost that
// is always on (recorder.h). Only signals and failures ask for it. A later file has a number in its
// name and replaces no earlier one, up to a bound. MILLRACE_TRACE comes first.
//
// Failures are logged; the program goes on. Thread-safe.
#pragma once

namespace millrace::timeline {

// Begins to record, if one of the variables is set and this is the first call.
void trace_program() noexcept;
// Returns whether the process records everything for a file.
bool is_traced() noexcept;

// Exists as long as a device is open. The destructor of the last one writes the file.
class OpenDevice {
 public:
  OpenDevice() noexcept;
  ~OpenDevice();
  OpenDevice(const OpenDevice&) = delete;
  OpenDevice& operator=(const OpenDevice&) = delete;
};

}  // namespace millrace::timeline
