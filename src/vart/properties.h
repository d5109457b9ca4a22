// Runner::get_property.
#pragma once

#include <any>
#include <string>

#include "runtime/loader.h"

namespace millrace::vartml {

// Throws std::invalid_argument for an unknown key.
std::any property_of(const runtime::LoadedProgram& loaded, const std::string& key);

}  // namespace millrace::vartml
