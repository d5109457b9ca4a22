#include "tests/nrt/trace_fixture.h"

#include <fstream>
#include <sstream>

namespace millrace::test {

Json parse_file(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  return Json::parse(file);
}

std::vector<std::string> names_of(const char** names, size_t count) {
  return {names, names + count};
}

std::vector<Json> of_type(const Json& trace, const std::string& type) {
  std::vector<Json> found;
  for (const Json& event : trace.at("events"))
    if (event.at("event_type") == type) found.push_back(event);
  return found;
}

std::vector<Json> slices_of(const Json& trace) {
  std::vector<Json> slices;
  for (const Json& event : trace.at("traceEvents"))
    if (event.at("ph") == "X") slices.push_back(event);
  return slices;
}

std::string hex(nrta_seq_t sequence) {
  std::ostringstream text;
  text << "0x" << std::hex << sequence;
  return text.str();
}

TraceTest::TraceTest() {
  EXPECT_EQ(nrt_sys_trace_config_allocate(&trace_config_), NRT_SUCCESS);
  EXPECT_EQ(nrt_sys_trace_fetch_options_allocate(&fetch_options_), NRT_SUCCESS);
}

TraceTest::~TraceTest() {
  nrt_sys_trace_stop();
  nrt_sys_trace_config_free(trace_config_);
  nrt_sys_trace_fetch_options_free(fetch_options_);
}

void TraceTest::start() {
  ASSERT_EQ(nrt_sys_trace_start(trace_config_), NRT_SUCCESS);
}

Json TraceTest::fetch(const nrt_sys_trace_fetch_options_t* options) {
  char* buffer = nullptr;
  size_t size = 0;
  EXPECT_EQ(nrt_sys_trace_fetch_events(&buffer, &size, options), NRT_SUCCESS);
  EXPECT_EQ(std::char_traits<char>::length(buffer), size);
  Json json = Json::parse(buffer);
  nrt_sys_trace_buffer_free(buffer);
  return json;
}

size_t TraceTest::fetched_count(const nrt_sys_trace_fetch_options_t* options) {
  return fetch(options).at("events").size();
}

nrta_seq_t TraceTest::schedule_and_wait() {
  NRT_STATUS ret = NRT_FAILURE;
  nrta_seq_t sequence = 0;
  EXPECT_EQ(schedule(&ret, &sequence), NRT_SUCCESS);
  await(sequence);
  return sequence;
}

}  // namespace millrace::test
