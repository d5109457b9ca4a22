// Tells the hazard checker (check/check.h) and, of executions, the recorder (record/record.h) which
// memory a request uses. `unit` is the number of the unit in the ids that programs see;
// `writes_status`: the program has given memory for the status.
// Requirement: check::on() or, for an execution, runtime::jobs_are_watched() returned true.
// Thread-safe.
#pragma once

#include <cstdint>

#include "nrt/requests/binding.h"
#include "nrt/requests/transfer_task.h"

namespace millrace::nrt {

void watch_execution(const Binding& binding, uint16_t unit, bool writes_status) noexcept;
void watch_transfer(const Transfer& transfer, uint16_t unit, bool writes_status) noexcept;

}  // namespace millrace::nrt
