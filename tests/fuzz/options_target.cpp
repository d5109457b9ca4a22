// The file behind the VART option config_json is refused with a reason, or gives options.
#include <stdexcept>

#include "tests/fuzz/target.h"
#include "vart/files/options.h"

namespace millrace::fuzz {

void fuzz_one(Input input) {
  const InputFile file(input);
  try {
    const auto options = vartml::read_options({{"config_json", file.path()}});
    expect(options.max_concurrent_runs >= 1, "a number in its range");
  } catch (const std::runtime_error& error) {
    expect(std::string_view(error.what()).find(file.path()) != std::string_view::npos,
           "the name of the file", error.what());
  } catch (const std::invalid_argument& error) {
    expect(std::string_view(error.what()).find(file.path()) != std::string_view::npos,
           "the name of the file", error.what());
  }
}

}  // namespace millrace::fuzz
