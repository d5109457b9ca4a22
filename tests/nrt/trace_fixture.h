// The NRT face while it is traced.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "nrt/nrt_sys_trace.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {

using Json = nlohmann::json;

Json parse_file(const std::string& path);

std::vector<std::string> names_of(const char** names, size_t count);

// The entries of one type among the "events" of a trace.
std::vector<Json> of_type(const Json& trace, const std::string& type);
// The complete slices of a Chrome trace.
std::vector<Json> slices_of(const Json& trace);

// Formats an id as traces write it: viewers and scripts would lose digits of a number.
std::string hex(nrta_seq_t sequence);

class TraceTest : public NrtModelTest {
 protected:
  TraceTest();
  ~TraceTest() override;

  void start();

  static Json fetch(const nrt_sys_trace_fetch_options_t* options = nullptr);
  static size_t fetched_count(const nrt_sys_trace_fetch_options_t* options = nullptr);

  nrta_seq_t schedule_and_wait();

  nrt_sys_trace_config_t* trace_config_ = nullptr;
  nrt_sys_trace_fetch_options_t* fetch_options_ = nullptr;
  const TemporaryDirectory directory_;
};

}  // namespace millrace::test
