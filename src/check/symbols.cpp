#include "check/symbols.h"

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

#include "model/files/mapped_file.h"

namespace millrace::check {
namespace {

using Bytes = std::span<const std::byte>;

// Returns the object at an offset, of a file that may end before it.
template <class T>
std::optional<T> read_at(Bytes file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

std::string text_at(Bytes file, uint64_t offset) {
  if (offset >= file.size()) return {};
  const auto* const text = reinterpret_cast<const char*>(file.data() + offset);
  return {text, ::strnlen(text, file.size() - offset)};
}

std::optional<Elf64_Shdr> section(Bytes file, const Elf64_Ehdr& header, uint64_t index) {
  return read_at<Elf64_Shdr>(file, header.e_shoff + index * sizeof(Elf64_Shdr));
}

std::string search(Bytes file, const Elf64_Shdr& table, const Elf64_Shdr& names, uintptr_t value) {
  for (uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
    const auto symbol = read_at<Elf64_Sym>(file, table.sh_offset + i * sizeof(Elf64_Sym));
    if (!symbol) break;
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF) continue;
    if (value < symbol->st_value || value - symbol->st_value >= symbol->st_size) continue;
    return text_at(file, names.sh_offset + symbol->st_name);
  }
  return {};
}

}  // namespace

std::string symbol_in(const std::string& path, uintptr_t address) {
  const auto mapped = model::MappedFile::open(path);
  if (!mapped.ok()) return {};
  const Bytes file = mapped->bytes();
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr))
    return {};
  for (uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto table = section(file, *header, i);
    if (!table || table->sh_type != SHT_SYMTAB) continue;
    const auto names = section(file, *header, table->sh_link);
    return names ? search(file, *table, *names, address) : std::string();
  }
  return {};
}

}  // namespace millrace::check
