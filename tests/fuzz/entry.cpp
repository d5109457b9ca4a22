// The entry point that the engine calls.
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  millrace::fuzz::fuzz_one(std::as_bytes(std::span(data, size)));
  return 0;
}
