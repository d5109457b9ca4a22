#include "memory/bank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <mutex>
#include <optional>
#include <utility>

#include "base/settings/environment.h"

namespace millrace::memory {
namespace {

constexpr const char* kVariable = "MILLRACE_MEMORY_BANKS";
constexpr std::string_view kDefault = "DDR0=unlimited,DDR1=unlimited,DDR2=unlimited,DDR3=unlimited";
// The name of a bank becomes part of the name of a memfd, which the kernel limits to 249 bytes.
constexpr size_t kLongestName = 64;
constexpr std::string_view kNameCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";

constexpr std::string_view kUnits = "KMGT";

Status invalid_word(std::string_view word, std::string_view why) {
  return invalid_argument(fmt::format("\"{}\": {}", word, why));
}

// Returns the exponent of two that a unit stands for, such as "", "M", "m", "MB" or "MiB"; nullopt
// for any other text.
std::optional<unsigned> shift_of_unit(std::string_view unit) {
  if (unit.empty()) return 0;
  const std::string_view rest = unit.substr(1);
  const size_t power =
      kUnits.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
  if (power == std::string_view::npos ||
      (!rest.empty() && rest != "B" && rest != "b" && rest != "iB"))
    return std::nullopt;
  return 10 * static_cast<unsigned>(power + 1);
}

Result<std::shared_ptr<Bank>> parse_bank(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return invalid_word(word, "a bank must be NAME=SIZE");
  const std::string_view name = word.substr(0, equals);
  if (name.empty() || name.size() > kLongestName ||
      name.find_first_not_of(kNameCharacters) != std::string_view::npos)
    return invalid_word(
        word,
        fmt::format("a name must have 1 to {} letters, digits, '_', '-' and '.'", kLongestName));
  MILLRACE_ASSIGN_OR_RETURN(const uint64_t size, parse_size(word.substr(equals + 1)));
  return std::make_shared<Bank>(std::string(name), size);
}

}  // namespace

Result<uint64_t> parse_size(std::string_view text) {
  if (text == "unlimited") return kUnlimited;
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const std::optional<unsigned> shift = shift_of_unit(std::string_view(stop, end - stop));
  if (error != std::errc() || !shift)
    return invalid_word(text, "a size must be a number of bytes, K, M, G or T, or \"unlimited\"");
  if (number == 0) return invalid_word(text, "a size must be at least 1 byte");
  if (number > kUnlimited >> *shift) return invalid_word(text, "the size exceeds 64 bits");
  return number << *shift;
}

Result<BankCharge> Bank::charge(uint64_t bytes) {
  uint64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > size_ - used)
      return Status(StatusCode::kOutOfMemory,
                    fmt::format("memory bank \"{}\" has {} bytes, of which {} are used; {} more "
                                "were requested",
                                name_, size_, used, bytes));
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return BankCharge(shared_from_this(), bytes);
}

Result<BankList> parse_banks(std::string_view text) {
  BankList banks;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<Bank> bank, parse_bank(text.substr(at, end - at)));
    for (const std::shared_ptr<Bank>& other : banks)
      if (other->name() == bank->name())
        return invalid_word(bank->name(), "two banks have this name");
    banks.push_back(std::move(bank));
    at = end + 1;
  }
  if (banks.size() > kMaxBanks)
    return invalid_argument(
        fmt::format("there are {} banks, but the limit is {}", banks.size(), kMaxBanks));
  return banks;
}

Result<BankList> banks_of_environment() {
  struct Known {
    std::mutex mutex;
    std::string text;
    BankList banks;
  };
  // Never destroyed, since memory may be allocated while the process exits.
  static Known* const known = new Known;
  const std::string_view variable = environment_variable(kVariable);
  const std::string_view text = variable.empty() ? kDefault : variable;
  const std::lock_guard lock(known->mutex);
  if (known->banks.empty() || known->text != text) {
    Result<BankList> banks = parse_banks(text);
    if (!banks.ok()) return banks.status().with_context(kVariable);
    known->text = text;
    known->banks = *std::move(banks);
  }
  return known->banks;
}

}  // namespace millrace::memory
