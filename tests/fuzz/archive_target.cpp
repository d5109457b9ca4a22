// An archive is refused with a reason, or is a model that encodes and decodes to itself.
#include "graph/archive/codec.h"
#include "tests/fuzz/target.h"

namespace millrace::fuzz {

void fuzz_one(Input input) {
  const auto archive = model::Archive::from_memory(input, nullptr);
  if (!archive.ok())
    return expect_refusal(archive.status(), {StatusCode::kCorruptData, StatusCode::kUnsupported});
  const auto model = graph::decode(*archive);
  if (!model.ok()) return expect_refusal(model.status(), {StatusCode::kCorruptData});
  const std::vector<std::byte> encoded = model::archive_bytes(graph::encode(*model));
  const auto again = model::Archive::from_memory(encoded, nullptr);
  expect(again.ok(), "an archive again", again.status().to_string());
  const auto same = graph::decode(*again);
  expect(same.ok(), "a model again", same.status().to_string());
  expect(model::archive_bytes(graph::encode(*same)) == encoded, "the same bytes again");
}

}  // namespace millrace::fuzz
