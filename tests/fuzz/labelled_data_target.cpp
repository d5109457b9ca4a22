// Any file is labels of a data set, or is refused: a table, or the list of classes that folders are
// named after. Any text is looked up in such a list.
#include <array>

#include "cli/data/labels.h"
#include "tests/fuzz/target.h"

namespace millrace::fuzz {
namespace {

// Two samples in a file without a directory, whose name is a number.
const cli::DataSet& two_samples() {
  static const std::array<std::byte, 8> frames{};
  static const InputFile file(frames);
  graph::Boundary input;
  input.cpu = tensor::make_cpu_desc("values", tensor::DataType::kFloat32, {1});
  static const auto data = cli::DataSet::open({input}, {file.path()}, {});
  expect(data.ok() && data->size() == 2, "two samples");
  return *data;
}

constexpr auto kCodes = {StatusCode::kNotFound, StatusCode::kInvalidArgument};
// Labels may be a .npy file as well, so files of other kinds, for example PDF, are named as such.
constexpr auto kLabelCodes = {StatusCode::kNotFound, StatusCode::kInvalidArgument,
                              StatusCode::kUnsupported};

}  // namespace

void fuzz_one(Input input) {
  const InputFile file(input);
  const auto labels = cli::read_labels(two_samples(), file.path(), "");
  if (labels.ok())
    expect(labels->classes.size() == 2, "a class for each sample");
  else
    expect_refusal(labels.status(), kLabelCodes);
  const auto names = cli::ClassNames::read(file.path());
  if (!names.ok()) return expect_refusal(names.status(), kCodes);
  expect(names->size() > 0, "at least one class");
  const auto found = names->find(text_of(input));
  if (found.ok())
    expect(*found < names->size(), "one of the classes");
  else
    expect_refusal(found.status(), kCodes);
}

}  // namespace millrace::fuzz
