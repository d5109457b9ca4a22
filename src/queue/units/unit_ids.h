// The ids of execution units: unique in the process among living units, 1 to 65,535. An id is used
// again as late as possible. Thread-safe.
#pragma once

#include <cstdint>
#include <utility>

namespace millrace::queue {

// Holds an id until it is destroyed.
class UnitId {
 public:
  // value() is 0 when all ids are taken.
  static UnitId take();

  UnitId(UnitId&& other) noexcept : value_(std::exchange(other.value_, uint16_t{0})) {}
  UnitId& operator=(UnitId&&) = delete;
  ~UnitId();

  uint16_t value() const noexcept { return value_; }

 private:
  explicit UnitId(uint16_t value) noexcept : value_(value) {}
  uint16_t value_;
};

}  // namespace millrace::queue
