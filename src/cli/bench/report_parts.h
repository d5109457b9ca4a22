// The parts that all reports of `millrace bench` have. Thread-safe.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/bench/bench_report.h"
#include "cli/bench/percentiles.h"

namespace millrace::cli {

// The first lines of a text, and the first members of a JSON object.
std::string subject_text(const BenchSubject& subject);
nlohmann::ordered_json subject_json(const BenchSubject& subject);

// A line that compares the 99th percentile with that of an ideal queue. `services` says whose times
// its services take.
std::string ideal_text(const ServerFigures& server, double p99_ms, std::string_view services);
nlohmann::ordered_json server_json(const ServerFigures& server);

// Returns the time in the unit that fits (report/numbers.h).
std::string ms_text(double milliseconds);
// Returns a rate per second with one decimal or, if it is small, with four digits: "812.0", "0.05".
std::string rate_text(double per_second);

nlohmann::ordered_json distribution_json(const Distribution& times);

}  // namespace millrace::cli
