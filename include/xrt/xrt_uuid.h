// Identifiers of programs for programmable logic. A stand-in for the header of the board's runtime;
// see xrt_bo.h. C++17 and later.
#ifndef XRT_XRT_UUID_H
#define XRT_XRT_UUID_H

#include <array>
#include <string>

#pragma GCC visibility push(default)

namespace xrt {

// 16 bytes; a value like any other, and null, all zero, by default.
class uuid {
 public:
  uuid() = default;
  // Reads text such as "6aa4bbb5-0c1b-4f6c-8d2a-0f6f1c2f9a01", with or without hyphens.
  // std::invalid_argument for other texts; an empty one is null.
  explicit uuid(const std::string& text);
  explicit uuid(const std::array<unsigned char, 16>& bytes) : bytes_(bytes) {}

  const unsigned char* get() const { return bytes_.data(); }
  std::string to_string() const;

  explicit operator bool() const { return bytes_ != std::array<unsigned char, 16>{}; }
  bool operator==(const uuid& other) const { return bytes_ == other.bytes_; }
  bool operator!=(const uuid& other) const { return bytes_ != other.bytes_; }
  bool operator<(const uuid& other) const { return bytes_ < other.bytes_; }

 private:
  std::array<unsigned char, 16> bytes_{};
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_XRT_UUID_H
