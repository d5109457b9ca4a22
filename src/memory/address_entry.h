// AddressEntry: makes a buffer findable by its device addresses, for as long as the entry lives. A
// slice makes the whole buffer findable.
//
// Programs pass device addresses to kernels as plain numbers. Thread-safe. A forked child knows no
// addresses.
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

  // The whole buffer in which the address lies; empty where none with an entry has it.
  static Buffer find(uint64_t address);

 private:
  const Buffer buffer_;
};

}  // namespace millrace::memory
