// Runner::get_property.
#pragma once

#include <any>
#include <cstdint>
#include <string>

#include "memory/bank.h"
#include "runtime/loader.h"
#include "vart/options.h"

namespace millrace::vartml {

// `lanes`: those on which the runner's jobs may run. Throws std::invalid_argument for an unknown
// key.
std::any property_of(const runtime::LoadedProgram& loaded, const RunnerOptions& options,
                     uint32_t lanes, const memory::BankList& banks, const std::string& key);

}  // namespace millrace::vartml
