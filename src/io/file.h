// Reads and writes whole files, with one-line error messages, for command line programs.
// Thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::io {

// Reads a regular file. kNotFound or kIoError, with path and reason; kInvalidArgument for a
// directory and anything else that is not a regular file.
Result<std::vector<std::byte>> read_file(const std::string& path);

// Writes a file or replaces it atomically; on failure no incomplete file is left.
Status write_file(const std::string& path, std::span<const std::byte> bytes);

// Returns the lines of a text file, without line ends (LF or CR LF).
Result<std::vector<std::string>> read_lines(const std::string& path);

}  // namespace millrace::io
