// AddressEntry: registers a buffer in a table of the process, by which it is found by any of its
// device addresses as long as the entry exists. An entry for a slice registers the whole buffer.
//
// The table exists because programs pass device addresses to kernels as plain integers.
// Thread-safe. In a forked child nothing is found.
#pragma once

#include <cstdint>

#include "memory/buffer.h"

namespace millrace::memory {

class AddressEntry {
 public:
  explicit AddressEntry(const Buffer& buffer);
  ~AddressEntry();
  AddressEntry(const AddressEntry&) = delete;
  AddressEntry& operator=(const AddressEntry&) = delete;

  // Returns the whole buffer that contains the address; an empty one if no registered buffer does.
  static Buffer find(uint64_t address);

 private:
  const Buffer buffer_;
};

}  // namespace millrace::memory
