// Checks what an archive may be written to, and removes what remains of an older one.
#pragma once

#include <span>
#include <string>

#include "base/status.h"

namespace millrace::model {

// Whether the file form may be written to `path`: nothing there, or a regular file.
Status check_file_target(const std::string& path);
// Whether the directory form may be written to `path`: nothing there, an empty directory, or one
// that holds an archive in directory form and nothing else.
Status check_directory_target(const std::string& path);

// Whether a part of the directory form may be written to `path`: nothing there, or such a directory
// that holds the files of an archive and nothing else.
Status check_part_target(const std::string& path);

// Removes the parts and the connectivity file of an archive from `directory`, except those named in
// `kept`. Failures to remove are ignored.
void remove_parts_except(const std::string& directory, std::span<const std::string> kept);

}  // namespace millrace::model
