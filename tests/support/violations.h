// Violations: the checks that failed in a run of a stress program, and how often. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace millrace::test {

class Violations {
 public:
  void add_violation(const std::string& text) {
    const std::lock_guard lock(mutex_);
    ++counts_[text];
  }
  void expect(bool condition, const char* violation) {
    if (!condition) add_violation(violation);
  }
  std::map<std::string, uint64_t> violations() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, uint64_t> counts_;
};

}  // namespace millrace::test
