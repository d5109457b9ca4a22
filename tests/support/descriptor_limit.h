// DescriptorLimit: limits the number of descriptors of the process while it exists.
#pragma once

#include <sys/resource.h>

namespace millrace::test {

class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t soft_limit) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit wanted = {soft_limit, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &wanted);
  }
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_ = {};
};

}  // namespace millrace::test
