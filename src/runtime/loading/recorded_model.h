// Tells the recorder (record/record.h) of models that were loaded. Thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "device/device.h"
#include "graph/compiled_model.h"

namespace millrace::runtime {

// The archive of a model: its bytes, if they are in memory, or its path. `content` is what it
// holds.
struct RecordedArchive {
  const graph::CompiledModel& content;
  std::string path{};
  std::span<const std::byte> bytes{};
};

// Has the archive kept from which `program` was made. One whose form is a directory is written
// anew. `profile` is the one with which it was loaded; empty if there was none. An archive that
// cannot be read again is logged, and the jobs of the program are not recorded. Requirement:
// record::on() returned true.
void record_model(const device::Program& program, const RecordedArchive& archive,
                  std::string_view profile) noexcept;
// Does the same for a model of static shapes: without a name, the profile is that which
// static_model() has chosen.
void record_static_model(const device::Program& program, const RecordedArchive& archive,
                         std::string_view profile) noexcept;

}  // namespace millrace::runtime
