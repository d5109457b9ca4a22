// The present use of the memory banks by all processes, which `millrace doctor` shows.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace millrace::memory {

// Returns the bytes that processes of this user have mapped, in whole pages, by the name of the
// bank. Memory that several processes share counts once. The numbers are read from /proc: processes
// that cannot be read are omitted, and changes during the call may be missed. Unused banks have no
// entry.
std::map<std::string, uint64_t> bank_use_of_all_processes();

}  // namespace millrace::memory
