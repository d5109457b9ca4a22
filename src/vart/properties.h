// The implementation of Runner::get_property; docs/vart.md lists the keys and the types of values.
#pragma once

#include <any>
#include <string>

#include "memory/bank.h"
#include "runtime/loading/loader.h"
#include "runtime/session.h"
#include "vart/files/options.h"

namespace millrace::vartml {

// Returns the value of a property. Throws std::invalid_argument for an unknown key.
std::any property_of(const runtime::LoadedProgram& loaded, const RunnerOptions& options,
                     const runtime::Session& session, const memory::BankList& banks,
                     const std::string& key);

}  // namespace millrace::vartml
