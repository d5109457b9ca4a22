// An inference request is refused with a reason, or gives each input memory of the right size. The
// first byte of the input says whether a length of the JSON, of two bytes, follows; the rest is the
// body.
#include <cstring>
#include <string>

#include "millrace/device.hpp"
#include "serve/protocol/infer_request.h"
#include "tests/fuzz/target.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"

namespace millrace::fuzz {
namespace {

Model load_model() {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("tiny.rai");
  expect(test::write_tiny_model(path, {.batch_size = 2}).ok(), "a model");
  return Device::open("null").value().load(path).value();
}

serve::HttpRequest request_of(Input input) {
  serve::HttpRequest request;
  size_t json_bytes = 0;
  if (input.size() >= 3 && std::to_integer<int>(input[0]) % 2 == 1) {
    json_bytes = std::to_integer<size_t>(input[1]) | std::to_integer<size_t>(input[2]) << 8;
    request.fields.emplace_back(serve::kJsonLengthField, std::to_string(json_bytes));
    input = input.subspan(2);
  }
  if (!input.empty()) input = input.subspan(1);
  expect(serve::MemoryBlock::allocate(input.size(), json_bytes, request.body), "memory");
  std::memcpy(request.body.data(), input.data(), input.size());
  return request;
}

}  // namespace

void fuzz_one(Input input) {
  static const Model model = load_model();
  const auto request = serve::read_infer_request(request_of(input), model);
  if (!request.ok()) return expect_refusal(request.status(), {StatusCode::kInvalidArgument});
  const TensorInfo& info = model.inputs()[0];
  const std::span<const std::byte> bytes = request->inputs.at(0).bytes;
  expect(request->frames == 1 || request->frames == 2, "one or two frames");
  expect(bytes.size() == info.cpu.bytes * request->frames, "the bytes of the frames");
  expect(reinterpret_cast<uintptr_t>(bytes.data()) % sizeof(float) == 0, "an aligned tensor");
  // Sanitizers see whether all of it may be read.
  volatile int sum = 0;
  for (const std::byte byte : bytes) sum = sum + std::to_integer<int>(byte);
}

}  // namespace millrace::fuzz
