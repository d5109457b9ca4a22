// Published files: memory files (memfds) by which a process shows something to other processes of
// its user, such as its counters. They have no name in a file system. Others find them among the
// descriptors of the process, in /proc/PID/fd, where the system lets only the same user, and root,
// open them; it removes them with the process. Mapping::create() makes one. Thread-safe.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace millrace::memory {

enum class PublishedAccess : uint8_t { kRead, kReadAndWrite };

// Maps the first `bytes` bytes of the file that the process publishes under this name. Null if it
// has none that can be opened, has this size and cannot shrink. The mapping stays valid when the
// process ends. What is in it was written by the other process, and may change at any time.
std::shared_ptr<std::byte> map_published_file(pid_t pid, std::string_view name, size_t bytes,
                                              PublishedAccess access);

// Returns the processes that exist, of all users.
std::vector<pid_t> existing_processes();

}  // namespace millrace::memory
