// Creates the files and directories of archives. It is an error if the name exists already, unless
// a function says otherwise. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::model {

using Sink = std::function<Status(std::span<const std::byte>)>;

// Creates a directory in which its owner may write, whatever the umask is. False, with errno set,
// on failure.
bool make_directory(const std::string& path) noexcept;
// Does the same, with a Status: kNotFound or kIoError, with a message that does not contain the
// path.
Status create_directory(const std::string& path);
// Creates the directory and its parents, as far as they are missing. If one cannot be created,
// those that were created are removed. kNotFound or kIoError, with the path.
Status create_directories(const std::string& path);
// Does the same for the directory of a file.
Status create_directory_of(const std::string& file);
// Creates a new file for writing. kNotFound or kIoError, with a message that does not contain the
// path.
Result<UniqueFd> create_file(const std::string& path);
// Writes the bytes that `emit` passes to its sink, and closes the file.
Status fill_file(UniqueFd file, const std::function<Status(const Sink&)>& emit);

}  // namespace millrace::model
