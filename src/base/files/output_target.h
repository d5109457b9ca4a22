// The rule by which every writer of Millrace treats an existing object at the path of an output:
//
//   none, a regular file                  atomically replaced when the new contents are complete
//   a FIFO, a terminal, a character       written to directly; so is a descriptor of this process
//   device                                (/dev/stdout, /dev/fd/N), whatever it refers to
//   a directory, a socket, a block        refused
//   device
//
// A symbolic link at the end of a path is followed if it belongs to the user or to root. Links of
// other users are refused: they would choose on behalf of the user which file is replaced.
//
// Thread-safe. Errors do not contain the path.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace millrace {

struct OutputTarget {
  std::string path;        // without trailing slashes, and with links at its end resolved
  bool is_stream = false;  // it is written to directly and not replaced
};

// Applies the rule. kInvalidArgument names the kind of file that is refused.
Result<OutputTarget> output_target(const std::string& path);

// Returns the path for an output directory, with links at its end resolved by the same rule.
Result<std::string> output_directory(const std::string& path);

// Checks that output_target() allows the path and that this user may write there; commands call it
// before their work begins. The message names the path. An empty path is allowed: it means that the
// output is not wanted. "-" is refused, since a user who writes it does not mean a file of that
// name.
Status check_output(const std::string& path);

// Checks the same for a folder that is to be written to, and made if it is missing.
Status check_output_folder(const std::string& path);

// Checks that a regular file may be renamed to this path: it is free or has a regular file.
// Otherwise kInvalidArgument says what it has.
Status check_replaceable(const std::string& path);
// Checks the same for a directory.
Status check_replaceable_directory(const std::string& path);

// Writes the bytes to a target that is a stream, and blocks while its reader is slow. kIoError on
// failure, also if a FIFO has no reader. Never raises SIGPIPE.
Status write_through(const OutputTarget& target, std::span<const std::byte> bytes);
// Does the same with the bytes that `emit` passes to its sink, one piece after the other.
using ByteSink = std::function<Status(std::span<const std::byte>)>;
Status write_through(const OutputTarget& target,
                     const std::function<Status(const ByteSink&)>& emit);

// Returns "a directory", "a character device" or the like for the mode of a file.
std::string_view kind_of_file(unsigned mode) noexcept;

}  // namespace millrace
