// Reads and writes whole files, for the programs: small helpers with one-line errors. Thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::io {

// kNotFound or kIoError with path and reason; kInvalidArgument for a directory and anything else
// that is not a regular file.
Result<std::vector<std::byte>> read_file(const std::string& path);

// Writes or replaces the whole file; leaves no incomplete one.
Status write_file(const std::string& path, std::span<const std::byte> bytes);

// The lines of a text file without their line ends (LF or CR LF).
Result<std::vector<std::string>> read_lines(const std::string& path);

}  // namespace millrace::io
