// The functions that a loaded library calls through slots which the dynamic loader has filled in
// (the global offset table, GOT).
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

// Makes `library` call `function` wherever it would call `symbol` through such a slot; pointers to
// `symbol` in its static data stay. No other library or program is affected. Returns how many slots
// were replaced: 0 if they cannot be written to.
//
// To be called while no other thread runs code of the library, as from a constructor.
int replace_imports(const dl_phdr_info& library,
                    std::span<const Replacement> replacements) noexcept;

// Makes `library` call its own functions where the loader has chosen others of the same name. So
// instances of templates that the program has as well do not call the program's memory functions.
void bind_to_itself(const dl_phdr_info& library) noexcept;

}  // namespace millrace::device::cpu::reserve
