// MILLRACE_RECORD: the folder to which the jobs of this process are recorded from the first device
// on that it opens; "%p" in it stands for the id of the process.
//
//   MILLRACE_RECORD_LIMIT   how many MiB the folder may take
//   MILLRACE_RECORD_INPUTS  0: jobs are kept without the bytes of their inputs and outputs
//
// Failures are logged; the program goes on. Thread-safe.
#pragma once

namespace millrace::record {

// Starts the recorder, if MILLRACE_RECORD is set and this is the first call.
void record_program() noexcept;

}  // namespace millrace::record
