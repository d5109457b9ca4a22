// The report of `millrace bench --url`. Thread-safe.
#pragma once

#include <string>

#include "cli/bench/remote/remote_load.h"

namespace millrace::cli {

struct RemoteReport {
  std::string url, model, version;  // the version of Millrace
  RemoteLoad load;
  RemoteRun run;
};

// The report as text of several lines, and as one line of JSON without its newline.
std::string report_text(const RemoteReport& report);
std::string report_json(const RemoteReport& report);

}  // namespace millrace::cli
