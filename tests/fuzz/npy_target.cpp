// A NumPy file is refused with a reason, or gives an array whose parts agree.
#include "io/npy.h"
#include "tests/fuzz/target.h"

namespace millrace::fuzz {

void fuzz_one(Input input) {
  const auto array = io::read_npy(InputFile(input).path());
  if (!array.ok())
    return expect_refusal(array.status(), {StatusCode::kCorruptData, StatusCode::kUnsupported});
  uint64_t bytes = tensor::size_of(array->type);
  for (const uint32_t dim : array->shape) bytes *= dim;
  expect(bytes == array->bytes.size(), "the bytes of the shape");
}

}  // namespace millrace::fuzz
