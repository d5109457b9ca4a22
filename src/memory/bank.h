// Bank: a named part of the device's memory, with a limited size.
//
// The environment variable MILLRACE_MEMORY_BANKS lists the banks in the order of their numbers:
// "DDR0=2G,DDR1=512M,DDR2=unlimited". Sizes are in bytes; the suffixes K, M, G and T stand for
// powers of 1,024. Without the variable there are four banks without a limit, DDR0 to DDR3.
//
// Memory is charged to its bank, byte for byte, as long as it exists. Every process has its own
// banks; bank_use.h computes the use by all processes. A bank is reference-counted, and every
// charge keeps it alive. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace millrace::memory {

inline constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();
inline constexpr size_t kMaxBanks = 255;

class BankCharge;

class Bank final : public std::enable_shared_from_this<Bank> {
 public:
  Bank(std::string name, uint64_t size) : name_(std::move(name)), size_(size) {}

  const std::string& name() const noexcept { return name_; }
  uint64_t size() const noexcept { return size_; }  // kUnlimited if there is no limit
  uint64_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

  // Reserves this many bytes until the charge is destroyed. kOutOfMemory when fewer are left; the
  // message names the bank, its size, and the bytes that are used and requested.
  Result<BankCharge> charge(uint64_t bytes);

 private:
  friend class BankCharge;

  const std::string name_;
  const uint64_t size_;
  std::atomic<uint64_t> used_{0};
};

// A reservation of bytes in a bank. It keeps the bank alive.
class BankCharge {
 public:
  BankCharge(BankCharge&& other) noexcept = default;
  BankCharge& operator=(BankCharge&&) = delete;
  ~BankCharge() {
    if (bank_) bank_->used_.fetch_sub(bytes_, std::memory_order_relaxed);
  }

 private:
  friend class Bank;
  BankCharge(std::shared_ptr<Bank> bank, uint64_t bytes) noexcept
      : bank_(std::move(bank)), bytes_(bytes) {}

  std::shared_ptr<Bank> bank_;
  uint64_t bytes_;
};

using BankList = std::vector<std::shared_ptr<Bank>>;

// Parses a size: a number of bytes, optionally with a unit of powers of 1,024, as in "512M",
// "512m", "512MB" or "512MiB" (K, M, G or T), or "unlimited". At least 1. kInvalidArgument quotes
// the text.
Result<uint64_t> parse_size(std::string_view text);

// Returns new, empty banks from a text as described above. kInvalidArgument quotes the invalid
// part.
Result<BankList> parse_banks(std::string_view text);

// Returns the banks that the environment variable describes. As long as its text does not change,
// every call returns the same banks, which the whole process shares. kInvalidArgument as
// parse_banks(), with the name of the variable.
Result<BankList> banks_of_environment();

}  // namespace millrace::memory
