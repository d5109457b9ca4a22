// How much of the memory banks all processes use at the moment.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace millrace::memory {

// The bytes that processes of this user have mapped, in whole pages, by the name of the bank.
// Memory that several of them share counts once. Read from /proc: processes that cannot be read are
// left out, and changes during the call may be missed. Banks that are not in use have no entry.
std::map<std::string, uint64_t> bank_use_of_all_processes();

}  // namespace millrace::memory
