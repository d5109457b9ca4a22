// Memory that ends where a page begins that nobody may read: loads of tiles beyond it, which
// AddressSanitizer does not see, end the test.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "base/align.h"

namespace millrace::device::cpu {

// A copy of the elements.
template <class T>
class AtPageEnd {
 public:
  explicit AtPageEnd(const std::vector<T>& elements)
      : bytes_(align_up(elements.size() * sizeof(T), kPage)),
        pages_(mmap(nullptr, bytes_ + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                    -1, 0)) {
    if (pages_ == MAP_FAILED) throw std::runtime_error("no memory for a test");
    auto* const end = static_cast<std::byte*>(pages_) + bytes_;
    if (mprotect(end, kPage, PROT_NONE) != 0) throw std::runtime_error("no page can be guarded");
    data_ = reinterpret_cast<T*>(end) - elements.size();
    std::ranges::copy(elements, data_);
  }
  ~AtPageEnd() { munmap(pages_, bytes_ + kPage); }
  AtPageEnd(const AtPageEnd&) = delete;
  AtPageEnd& operator=(const AtPageEnd&) = delete;

  T* data() { return data_; }

 private:
  const size_t bytes_;
  void* const pages_;
  T* data_ = nullptr;
};

}  // namespace millrace::device::cpu
