// An ONNX file is refused with a reason, or compiles to a model whose archive can be loaded.

#include "compiler/compiler.h"
#include "graph/archive/codec.h"
#include "tests/fuzz/target.h"

namespace millrace::fuzz {

void fuzz_one(Input input) {
  const auto model = compiler::compile(InputFile(input).path(), {});
  if (!model.ok())
    return expect_refusal(model.status(), {StatusCode::kCorruptData, StatusCode::kInvalidArgument,
                                           StatusCode::kUnsupported, StatusCode::kNotFound});
  const std::vector<std::byte> archive = model::archive_bytes(graph::encode(*model));
  const auto opened = model::Archive::from_memory(archive, nullptr);
  expect(opened.ok(), "an archive", opened.status().to_string());
  const auto decoded = graph::decode(*opened);
  expect(decoded.ok(), "the model again", decoded.status().to_string());
}

}  // namespace millrace::fuzz
