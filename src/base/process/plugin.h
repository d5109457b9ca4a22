// Plugins: shared libraries in the directory of the library that contains this code. They are
// loaded when they are needed and never unloaded. Thread-safe.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/status.h"

namespace millrace {

// Returns the path of `libmillrace-NAME.so` in the directory that MILLRACE_PLUGIN_DIR names, which
// a process with raised rights does not read; in the directory of this library if it is only there.
std::filesystem::path plugin_path(std::string_view name);

// Loads the plugin, if it is not loaded yet, and returns its function of that name. kNotFound when
// there is no such file. kUnsupported when it cannot be loaded, has no such function, or could have
// been changed by a user other than this one and root (base/files/trusted_file.h). kOutOfMemory or
// kResourceExhausted when there is no memory or no descriptor for it. Except for kNotFound, the
// messages are predicates that follow the name of the plugin, such as "cannot be loaded: ...".
Result<void*> plugin_function(const std::filesystem::path& path, const char* function);

}  // namespace millrace
