#include "base/seen_reasons.h"

#include <algorithm>
#include <utility>

namespace millrace {
namespace {

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool is_part_of_word(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The 64-bit FNV-1a hash, which is simple and sufficient for a table of this size.
class Hash {
 public:
  void add(char c) noexcept { value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3; }
  uint64_t value() const noexcept { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

// Hashes a text in which every number is replaced by "#". A word that begins with a digit is a
// number (12, 0x3f, 10ms); digits within other words are part of a name (input_1).
uint64_t hash_without_numbers(std::string_view component, std::string_view text) noexcept {
  Hash hash;
  for (const char c : component) hash.add(c);
  hash.add('\n');
  bool in_word = false, in_number = false;
  for (const char c : text) {
    const bool word = is_part_of_word(c);
    if (word && !in_word) {
      in_number = is_digit(c);
      if (in_number) hash.add('#');
    }
    in_word = word;
    if (!word || !in_number) hash.add(c);
  }
  return hash.value();
}

}  // namespace

SeenReasons::Answer SeenReasons::note(std::string_view component, std::string_view text) noexcept {
  const uint64_t hash = hash_without_numbers(component, text);
  const auto end = hashes_.begin() + static_cast<std::ptrdiff_t>(count_);
  if (std::find(hashes_.begin(), end, hash) != end) return Answer::kSeen;
  if (count_ == kMost) return std::exchange(too_many_, true) ? Answer::kSeen : Answer::kTooMany;
  hashes_[count_++] = hash;
  return Answer::kNew;
}

}  // namespace millrace
