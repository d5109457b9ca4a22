// NameId: stands for a text in events of fixed size (hooks.h), such as the name of an operator.
// Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace {

using NameId = uint32_t;

// Returns the id of the text, the same for equal texts. Ids are kept as long as the process lives.
// After 65,536 different texts, and when memory is exhausted, the id is 0, which stands for "".
NameId name_id(std::string_view text) noexcept;
// Returns the text of an id.
std::string name_with(NameId id);

// Put a name and the low half of a number into one field of an event, and take them out again.
constexpr uint64_t named_number(NameId name, uint64_t number) noexcept {
  return uint64_t{name} << 32 | (number & 0xffffffff);
}
constexpr NameId name_in(uint64_t field) noexcept {
  return static_cast<NameId>(field >> 32);
}
constexpr uint64_t number_in(uint64_t field) noexcept {
  return field & 0xffffffff;
}

}  // namespace millrace
