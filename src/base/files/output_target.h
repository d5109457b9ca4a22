// Every writer of Millrace treats the path of an output by one rule:
//
//   nothing, a regular file               replaced in one step, when the new content is complete
//   a FIFO, a terminal, a character       written through; so is a descriptor of this process
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
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace millrace {

struct OutputTarget {
  std::string path;        // links at its end are resolved, and it has no slash there
  bool is_stream = false;  // it is written through
};

// Applies the rule. kInvalidArgument names the kind of file where nothing may be written to it.
Result<OutputTarget> output_target(const std::string& path);

// Returns the path for an output directory, with links at its end resolved by the same rule.
Result<std::string> output_directory(const std::string& path);

// Checks that output_target() allows the path; commands call it before their work begins. The
// message names the path. An empty path is allowed: it means that the output is not wanted.
Status check_output(const std::string& path);

// Checks that a rename may now give this name to a regular file: either nothing or a regular file
// has the name. Otherwise kInvalidArgument says what has it.
Status check_replaceable(const std::string& path);
// Checks the same for a directory.
Status check_replaceable_directory(const std::string& path);

// Writes the bytes to a target that is a stream, and blocks while its reader is slow. kIoError on
// failure, also where a FIFO has no reader. Never raises SIGPIPE.
Status write_through(const OutputTarget& target, std::span<const std::byte> bytes);

// Returns "a directory", "a character device" or the like for the mode of a file.
std::string_view kind_of_file(unsigned mode) noexcept;

}  // namespace millrace
