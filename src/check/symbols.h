// Finds the names of functions that a program or library has in its symbol table, but does not
// export, as most functions of programs. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace millrace::check {

// Returns the symbol of the function at `address`, which is one that the ELF file at `path` has
// itself, wherever it is loaded; empty if the file cannot be read, has no symbol table, or none of
// its functions is there.
std::string symbol_in(const std::string& path, uintptr_t address);

}  // namespace millrace::check
