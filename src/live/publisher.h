// Shows the units of this process to `millrace top`, if MILLRACE_TOP=1. A thread of its own answers
// those who ask (process_page.h); jobs cost nothing more than without. A process with raised rights
// does not read the variable, and a forked child shows nothing. Thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "queue/units/unit.h"

namespace millrace::live {

// Shows the unit as long as it exists. `lanes` is the number of lanes of its device. Without a
// descriptor, memory or thread for that, the log says why, and the unit is not shown.
void show_unit(queue::Unit& unit, std::string_view name, uint32_t lanes) noexcept;

}  // namespace millrace::live
