// New files and directories, for whoever writes archives. The names must not exist yet, unless it
// says so.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::model {

using Sink = std::function<Status(std::span<const std::byte>)>;

// kNotFound or kIoError, without the path.
Status create_directory(const std::string& path);
Result<UniqueFd> create_file(const std::string& path);
// Writes what `emit` gives to its sink, and closes the file.
Status fill_file(UniqueFd file, const std::function<Status(const Sink&)>& emit);
// A whole file, in place of one that has the name: there is never half of it. kIoError.
Status write_text_file(const std::string& path, std::string_view text);

}  // namespace millrace::model
