// Creates the files and directories of archives. Their names must not exist yet, unless a function
// says otherwise.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::model {

using Sink = std::function<Status(std::span<const std::byte>)>;

// Makes a directory in which its owner may write, whatever the umask is. False with errno.
bool make_directory(const std::string& path) noexcept;
// Does the same; kNotFound or kIoError, and the message does not contain the path.
Status create_directory(const std::string& path);
// Makes the directory and those above it, where they are missing; where one cannot be made, none is
// left. kNotFound or kIoError, with the path.
Status create_directories(const std::string& path);
// Does the same for the directory in which the file is to be.
Status create_directory_of(const std::string& file);
Result<UniqueFd> create_file(const std::string& path);
// Writes the bytes that `emit` passes to its sink, and closes the file.
Status fill_file(UniqueFd file, const std::function<Status(const Sink&)>& emit);

}  // namespace millrace::model
