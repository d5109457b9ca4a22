// The configuration of the board's compiler is refused with a reason, or gives values in their
// ranges.
#include "compiler/compiler.h"
#include "compiler/vendor_config.h"
#include "tests/fuzz/target.h"

namespace millrace::fuzz {

void fuzz_one(Input input) {
  const InputFile file(input);
  const auto config = compiler::read_vendor_config(file.path());
  if (config.ok())
    expect(config->batch_size.value_or(1) - 1 < compiler::kMostFrames, "a number in its range");
  else
    expect(config.status().message().find(file.path()) != std::string::npos, "the name of the file",
           config.status().message());
}

}  // namespace millrace::fuzz
