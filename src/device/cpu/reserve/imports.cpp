#include "device/cpu/reserve/imports.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace millrace::device::cpu::reserve {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kFunctionEntry = R_X86_64_JUMP_SLOT, kAddressEntry = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr uint32_t kFunctionEntry = R_AARCH64_JUMP_SLOT, kAddressEntry = R_AARCH64_GLOB_DAT;
#else
#error "The relocation types of this processor are missing here."
#endif

// The relocations of a loaded library that fill slots with addresses, and what they refer to.
struct Imports {
  ElfW(Addr) base = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::span<const ElfW(Rela)> tables[2];  // [0]: DT_JMPREL (functions called), [1]: DT_RELA
};

// Returns the object at an address. ELF has addresses as integers, so the conversion cannot be
// avoided. Those in the dynamic section are absolute, since glibc has relocated them.
template <class T>
const T* at(ElfW(Addr) address) {
  return reinterpret_cast<const T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

Imports imports_of(const dl_phdr_info& library) {
  Imports found;
  found.base = library.dlpi_addr;
  const ElfW(Rela) * starts[2] = {};
  size_t bytes[2] = {};
  for (const ElfW(Phdr) & header : std::span(library.dlpi_phdr, library.dlpi_phnum)) {
    if (header.p_type != PT_DYNAMIC) continue;
    for (auto* entry = at<ElfW(Dyn)>(found.base + header.p_vaddr); entry->d_tag != DT_NULL;
         ++entry) {
      const ElfW(Addr) value = entry->d_un.d_ptr;
      if (entry->d_tag == DT_SYMTAB) found.symbols = at<ElfW(Sym)>(value);
      if (entry->d_tag == DT_STRTAB) found.names = at<char>(value);
      if (entry->d_tag == DT_JMPREL) starts[0] = at<ElfW(Rela)>(value);
      if (entry->d_tag == DT_PLTRELSZ) bytes[0] = value;
      if (entry->d_tag == DT_RELA) starts[1] = at<ElfW(Rela)>(value);
      if (entry->d_tag == DT_RELASZ) bytes[1] = value;
    }
  }
  for (size_t i = 0; i < 2; ++i) found.tables[i] = {starts[i], bytes[i] / sizeof(ElfW(Rela))};
  return found;
}

// Stores `function` in the slot at `address`. The loader leaves the pages of most slots read-only;
// this one stays writable. Returns false if the system refuses.
bool write_slot(ElfW(Addr) address, void* function) {
  const auto page = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
  void* const start = const_cast<char*>(at<char>(address & ~(page - 1)));
  if (mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return false;
  std::memcpy(const_cast<char*>(at<char>(address)), &function, sizeof function);
  return true;
}

// The argument of visit(): the start of a file name, and the first library that has it.
struct Search {
  std::string_view name;
  std::optional<dl_phdr_info> found;
};

int visit(dl_phdr_info* library, size_t, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  std::string_view path = library->dlpi_name;
  path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0
  if (!path.starts_with(search.name)) return 0;
  search.found = *library;
  return 1;
}

// Returns the function to call instead of `symbol`; null if there is no replacement for it.
void* replacement_of(const char* symbol, std::span<const Replacement> replacements) {
  for (const Replacement& replacement : replacements)
    if (std::strcmp(symbol, replacement.symbol) == 0) return replacement.function;
  return nullptr;
}

}  // namespace

std::optional<dl_phdr_info> find_library(std::string_view name) noexcept {
  Search search{name, std::nullopt};
  dl_iterate_phdr(visit, &search);
  return search.found;
}

void bind_to_itself(const dl_phdr_info& library) noexcept {
  const Imports imports = imports_of(library);
  // Functions only, so the first table. A slot that cannot be written keeps the loader's choice.
  for (const ElfW(Rela) & entry : imports.tables[0]) {
    if (ELF64_R_TYPE(entry.r_info) != kFunctionEntry) continue;
    const ElfW(Sym)& symbol = imports.symbols[ELF64_R_SYM(entry.r_info)];
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    const ElfW(Addr) own = imports.base + symbol.st_value;
    if (*at<ElfW(Addr)>(imports.base + entry.r_offset) == own) continue;
    static_cast<void>(write_slot(imports.base + entry.r_offset, const_cast<char*>(at<char>(own))));
  }
}

int replace_imports(const dl_phdr_info& library,
                    std::span<const Replacement> replacements) noexcept {
  const Imports imports = imports_of(library);
  int replaced = 0;
  for (const auto& table : imports.tables) {
    for (const ElfW(Rela) & entry : table) {
      const auto type = ELF64_R_TYPE(entry.r_info);
      if (type != kFunctionEntry && type != kAddressEntry) continue;
      const uint32_t name = imports.symbols[ELF64_R_SYM(entry.r_info)].st_name;
      void* const function = replacement_of(imports.names + name, replacements);
      if (function != nullptr) replaced += write_slot(imports.base + entry.r_offset, function);
    }
  }
  return replaced;
}

}  // namespace millrace::device::cpu::reserve
