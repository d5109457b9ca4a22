// Looks up the postprocessing functions that programs and plugins have registered with
// vart::PostProcessRegistry. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "vart/vart_postprocess_function_base.hpp"

namespace millrace::vartx {

// Makes a function: the registered one, or that of the plugin, whose name is `name`; or, if that is
// empty, the one that is registered for the type, null if there is none. Throws
// std::invalid_argument when there is no function of that name, std::runtime_error when its plugin
// cannot be used or its maker returns null, and what the maker throws.
std::shared_ptr<::vart::PostProcessFunctionBase> make_registered_function(
    const std::string& name, ::vart::PostProcessType type);

}  // namespace millrace::vartx
