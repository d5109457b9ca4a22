// Plugins: libraries that are found beside the one that holds this code, and loaded when they are
// needed. They are never unloaded. Thread-safe, but for messages of the dynamic loader.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/status.h"

namespace millrace {

// `libmillrace-NAME.so` beside this library, or in the directory that MILLRACE_PLUGIN_DIR names,
// which a process with raised rights does not read.
std::filesystem::path plugin_path(std::string_view name);

// Loads the plugin, if it is not loaded yet, and returns its function of that name. kNotFound when
// there is no such file; kUnsupported, with a message that goes on behind the name of the plugin,
// when it cannot be loaded or has no such function, or when somebody besides the user and root
// could have changed it (base/files/trusted_file.h); with such a message, too, kOutOfMemory and
// kResourceExhausted for want of memory or descriptors.
Result<void*> plugin_function(const std::filesystem::path& path, const char* function);

}  // namespace millrace
