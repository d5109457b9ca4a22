// An object of shared memory, as a client makes it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace millrace::test {

class SharedObject {
 public:
  explicit SharedObject(size_t bytes) : key_("/millrace-test-" + std::to_string(::getpid())) {
    ::shm_unlink(key_.c_str());
    object_ = UniqueFd(::shm_open(key_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
    EXPECT_TRUE(object_);
    resize(bytes);
  }
  ~SharedObject() { ::shm_unlink(key_.c_str()); }

  const std::string& key() const { return key_; }
  void resize(size_t bytes) const {
    EXPECT_EQ(::ftruncate(object_.get(), static_cast<off_t>(bytes)), 0);
  }
  void put(size_t at, const std::vector<float>& values) const {
    const size_t bytes = values.size() * sizeof(float);
    EXPECT_EQ(::pwrite(object_.get(), values.data(), bytes, static_cast<off_t>(at)),
              static_cast<ssize_t>(bytes));
  }
  std::vector<float> get(size_t at, size_t count) const {
    std::vector<float> values(count);
    const size_t bytes = count * sizeof(float);
    EXPECT_EQ(::pread(object_.get(), values.data(), bytes, static_cast<off_t>(at)),
              static_cast<ssize_t>(bytes));
    return values;
  }

 private:
  const std::string key_;
  UniqueFd object_;
};

}  // namespace millrace::test
