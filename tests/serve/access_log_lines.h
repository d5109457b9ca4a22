// The lines of an access log, read back.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace millrace::test {

// Each line as JSON; one that is none is "discarded".
inline std::vector<nlohmann::json> access_lines(const std::string& path) {
  std::vector<nlohmann::json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    lines.push_back(nlohmann::json::parse(line, nullptr, false));
  return lines;
}

inline constexpr const char* kTraceParent =
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
inline constexpr const char* kTraceId = "4bf92f3577b34da6a3ce929d0e0e4736";

}  // namespace millrace::test
