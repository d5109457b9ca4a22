// Writes an archive to an open file. Thread-safe.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "graph/compiled_model.h"

namespace millrace::python {

// Writes the file form of an archive to a descriptor, from where it stands. kIoError;
// kUnsupported: the structure of the archive is too large.
Status write_archive_to(int descriptor, const graph::CompiledModel& model, uint32_t columns);

}  // namespace millrace::python
