// The configuration text of a VART-X function is refused with a reason, or every key gives a value.
#include <cmath>
#include <stdexcept>
#include <string>

#include "tests/fuzz/target.h"
#include "vartx/json_config.h"

namespace millrace::fuzz {
namespace {

// Whatever the value is, it is given in the type that was asked for, or refused.
template <class Read>
void refused_or(Read read) {
  try {
    read();
  } catch (const std::invalid_argument& error) {
    expect(*error.what() != '\0', "a reason");
  }
}

void read_as_everything(const vartx::JsonConfig& config, const std::string& key) {
  refused_or([&] { expect(std::isfinite(config.number(key, 0)), "a finite number"); });
  refused_or([&] { config.integer(key, 0); });
  refused_or([&] { config.boolean(key, false); });
  refused_or([&] { config.text(key, ""); });
  refused_or([&] { config.integers(key); });
  refused_or([&] { config.texts(key); });
  refused_or([&] { config.number_rows(key); });
  refused_or([&] {
    for (const vartx::JsonConfig& each : config.objects(key))
      expect(std::isfinite(each.number("a", 0)), "a finite number");
  });
}

}  // namespace

void fuzz_one(Input input) {
  const std::string text(text_of(input));
  refused_or([&] {
    const auto config = vartx::JsonConfig::parse(text);
    for (const char* key : {"a", "b", ""}) read_as_everything(config, key);
    read_as_everything(config.object("a"), "b");
  });
}

}  // namespace millrace::fuzz
