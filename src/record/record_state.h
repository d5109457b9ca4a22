// Starts and ends the recording of this process. For the sources of this folder and its tests.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace millrace::record {

struct RecordOptions {
  std::string folder;         // must not exist, or be without a record
  uint64_t limit_bytes = 0;   // of all its files together
  bool keeps_tensors = true;  // if not, jobs are kept without the bytes of inputs and outputs
};

// Creates the folder and begins to observe. Fails as Folder::create, or with kResourceExhausted
// when the table of hooks is full. To be called once.
Status start_recording(const RecordOptions& options);

}  // namespace millrace::record
