// Checks whether an archive may be written to a path, and removes parts of an older archive. The
// checks return kInvalidArgument, which says what is in the way. Thread-safe.
#pragma once

#include <span>
#include <string>

#include "base/status.h"

namespace millrace::model {

// Checks that the file form may be written to `path`: it does not exist or is a regular file.
Status check_file_target(const std::string& path);
// Checks that the directory form may be written to `path`: it does not exist, is an empty
// directory, or contains an archive in directory form and nothing else.
Status check_directory_target(const std::string& path);

// Checks that a part of the directory form may be written to `path`: it does not exist, or is a
// part of an archive and contains nothing else.
Status check_part_target(const std::string& path);

// Removes the parts and the connectivity file of an archive from `directory`, except those named in
// `kept`. Failures to remove are ignored.
void remove_parts_except(const std::string& directory, std::span<const std::string> kept);

}  // namespace millrace::model
