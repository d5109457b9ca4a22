// ByteBudget: an upper limit of bytes that many share. ByteShare: the part of one of them, which it
// gives back at its end. One thread.
#pragma once

#include <cstdint>
#include <utility>

namespace millrace::serve {

class ByteBudget {
 public:
  explicit ByteBudget(uint64_t bytes) : left_(bytes) {}
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

 private:
  friend class ByteShare;
  uint64_t left_;
};

class ByteShare {
 public:
  explicit ByteShare(ByteBudget& budget) : budget_(budget) {}
  ByteShare(const ByteShare&) = delete;
  ByteShare& operator=(const ByteShare&) = delete;
  ~ByteShare() { give_back(); }

  // Takes more bytes. False, with nothing taken, if fewer are left.
  bool take(uint64_t bytes) {
    if (bytes > budget_.left_) return false;
    budget_.left_ -= bytes;
    taken_ += bytes;
    return true;
  }
  void give_back() { budget_.left_ += std::exchange(taken_, 0); }

 private:
  ByteBudget& budget_;
  uint64_t taken_ = 0;
};

}  // namespace millrace::serve
