// UnitId: the id of an execution unit, 1 to 65,535, unique among the living units of the process.
// Ids are given out in turn, so that one is reused as late as possible. Thread-safe.
#pragma once

#include <cstdint>
#include <utility>

namespace millrace::queue {

// Reserves an id until it is destroyed.
class UnitId {
 public:
  // Reserves a free id. The value() of the result is 0 if all ids are taken.
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
