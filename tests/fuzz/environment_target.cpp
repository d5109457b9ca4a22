// Lines of NAME=VALUE become environment variables, of which every part of the library reads its
// settings.
#include <cstdlib>
#include <vector>

#include "base/log.h"
#include "base/settings/environment.h"
#include "base/settings/variables.h"
#include "memory/bank.h"
#include "nrt/process/settings.h"
#include "nrt/process/vendor_variables.h"
#include "runtime/columns/columns.h"
#include "runtime/units/watchdog.h"
#include "tests/fuzz/target.h"

namespace millrace::fuzz {
namespace {

// Sets variables of the project and of the vendor for as long as it lives; others, such as PATH,
// are not the library's.
class Variables {
 public:
  explicit Variables(std::string_view lines) {
    for (size_t at = 0; at < lines.size();) {
      const size_t end = std::min(lines.find('\n', at), lines.size());
      set(std::string(lines.substr(at, end - at)));
      at = end + 1;
    }
  }
  ~Variables() {
    for (const std::string& name : names_) ::unsetenv(name.c_str());
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  void set(const std::string& line) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos) return;
    const std::string name = line.substr(0, equals);
    if (!name.starts_with("MILLRACE_") && !name.starts_with("NEURON_")) return;
    if (::setenv(name.c_str(), line.c_str() + equals + 1, 1) == 0) names_.push_back(name);
  }

  std::vector<std::string> names_;
};

void expect_refusal_if_any(const Status& status) {
  if (!status.ok()) expect_refusal(status, {StatusCode::kInvalidArgument});
}

void read_settings_of_nrt() {
  const auto settings = nrt::settings_of_environment();
  expect_refusal_if_any(settings.status());
  if (settings.ok()) {
    expect(settings->cores.count >= 1, "a core");
    expect(settings->cores.first + settings->cores.count <= settings->all_cores, "cores there are");
    expect(settings->compute_depth >= 1 && settings->core_memory >= 1, "numbers in their ranges");
  }
  nrt::log_level();
  nrt::meaningless_variables();
  nrt::unpublished_variables();
}

}  // namespace

void fuzz_one(Input input) {
  const Variables variables(text_of(input));
  read_settings_of_nrt();
  const auto banks = memory::banks_of_environment();
  expect_refusal_if_any(banks.status());
  expect(!banks.ok() || !banks->empty(), "a bank");
  expect_refusal_if_any(runtime::watchdog_in_force(std::chrono::seconds(1)).status());
  expect_refusal_if_any(runtime::ColumnMap::of_process().status());
  expect_refusal_if_any(switch_variable("MILLRACE_STRICT_SYNC", false).status());
  log_level_of_environment(LogLevel::kInfo);
  unknown_variables();
}

}  // namespace millrace::fuzz
