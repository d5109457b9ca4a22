// Finds the names of functions that a program or library has in its symbol table, but does not
// export, as most functions of programs. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace millrace::check {

// Returns the symbol of the function at `address` in the ELF file at `path`, which is loaded at
// `base`; empty if the file cannot be read, has no symbol table, or none of its functions is there.
std::string symbol_in(const std::string& path, uintptr_t base, uintptr_t address);

}  // namespace millrace::check
