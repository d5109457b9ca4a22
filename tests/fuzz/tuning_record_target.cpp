// The text of a record of kernel times is refused with a reason, or reads as the same when it is
// written again.
#include "device/cpu/plan/record.h"
#include "tests/fuzz/target.h"

namespace millrace::fuzz {

void fuzz_one(Input input) {
  using namespace device::cpu::plan;
  const Result<Record> record = parse_record(text_of(input));
  if (!record.ok()) return expect_refusal(record.status(), {StatusCode::kCorruptData});
  const Result<Record> again = parse_record(to_text(*record));
  expect(again.ok() && *again == *record, "the same record");
}

}  // namespace millrace::fuzz
