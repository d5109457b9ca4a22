// Plugins: libraries that are found beside the one that holds this code, and loaded when they are
// needed. They are never unloaded. Thread-safe, but for messages of the dynamic loader.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/status.h"

namespace millrace {

// Returns the path of `libmillrace-NAME.so` in the folder of this library, or in the one that
// MILLRACE_PLUGIN_DIR names, which a process with raised rights does not read.
std::filesystem::path plugin_path(std::string_view name);

// Loads the plugin, if it is not loaded yet, and returns its function of that name. kNotFound when
// there is no such file. kUnsupported when it cannot be loaded or has no such function, or when
// another user than this one and root could have changed it (base/files/trusted_file.h).
// kOutOfMemory and kResourceExhausted when there is no memory or no descriptor for it. The messages
// of these continue a sentence that begins with the name of the plugin.
Result<void*> plugin_function(const std::filesystem::path& path, const char* function);

}  // namespace millrace
