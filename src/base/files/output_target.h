// The one rule by which every writer of Millrace treats the path of an output:
//
//   nothing, a regular file               replaced in one step, when the new content is complete
//   a FIFO, a terminal, a character       written through; so is a descriptor of this process
//   device                                (/dev/stdout, /dev/fd/N), whatever it refers to
//   a directory, a socket, a block        refused
//   device
//
// A symbolic link at the end of a path is followed where it belongs to the user or to root. Anybody
// else's is refused, since it would choose on behalf of the user which file is replaced.
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

// kInvalidArgument with what the path leads to, where nothing may be written to it.
Result<OutputTarget> output_target(const std::string& path);

// The path of an output that is to be a directory, with links at its end resolved by the same rule.
Result<std::string> output_directory(const std::string& path);

// Whether output_target() allows the path: for commands, before their work begins. The message
// names the path. An empty path is allowed, as that of an output that nobody wants.
Status check_output(const std::string& path);

// Whether a regular file may get this name by a rename now: nothing or a regular file has it.
// kInvalidArgument says what has it instead.
Status check_replaceable(const std::string& path);
// The same for a directory.
Status check_replaceable_directory(const std::string& path);

// Writes the bytes through a target that is a stream. Blocks while its reader is slow. kIoError; a
// FIFO that nobody reads is one. Never raises SIGPIPE.
Status write_through(const OutputTarget& target, std::span<const std::byte> bytes);

// "a directory", "a character device" and the like, for the mode of a file.
std::string_view kind_of_file(unsigned mode) noexcept;

}  // namespace millrace
