// What processes hold of the memory banks now.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace millrace::memory {

// Bytes by the name of the bank, in whole pages, that processes of this user have mapped; memory
// that several of them share counts once. Read from /proc: what cannot be read is left out, and
// what changes meanwhile may be. A bank that nobody uses is not in it.
std::map<std::string, uint64_t> bank_use_of_all_processes();

}  // namespace millrace::memory
