// Whole files in and out, for the programs: small helpers with one-line errors. Any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::io {

// kNotFound or kIoError with path and reason; a directory, and anything else that is no regular
// file, is kInvalidArgument.
Result<std::vector<std::byte>> read_file(const std::string& path);

// Writes to a temporary name in the same directory and renames: nothing half-written is left.
Status write_file(const std::string& path, std::span<const std::byte> bytes);

// The lines of a text file without their line ends (LF or CR LF).
Result<std::vector<std::string>> read_lines(const std::string& path);

}  // namespace millrace::io
