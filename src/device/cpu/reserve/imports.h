// The functions that a loaded library imports from others: the entries of its relocation tables
// that the dynamic loader has filled in.
#pragma once

#include <link.h>

#include <optional>
#include <span>
#include <string_view>

namespace millrace::device::cpu::reserve {

struct Replacement {
  const char* symbol;  // as the linker knows it
  void* function;
};

// The loaded library whose file name begins with `name`. Valid as long as it stays loaded.
std::optional<dl_phdr_info> find_library(std::string_view name) noexcept;

// Lets the library call `function` wherever it would call `symbol`; no other library or program is
// affected. Returns how many calls it replaced: 0 when its tables cannot be written to.
//
// To be called while no other thread runs code of the library, as from a constructor.
int replace_imports(const dl_phdr_info& library,
                    std::span<const Replacement> replacements) noexcept;

// Lets the library call its own functions where the loader has found others of the same name first:
// instances of templates that the program has, too, call the memory functions of the program.
void bind_to_itself(const dl_phdr_info& library) noexcept;

}  // namespace millrace::device::cpu::reserve
