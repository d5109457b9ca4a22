// Runs `dot`, the program of Graphviz that lays out a graph. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

// Returns the picture of a graph in the DOT language; `format` is "svg", "png" or "pdf".
// kUnsupported, with what to do, if Graphviz is not installed; kInternal with what dot printed if
// it fails.
Result<std::vector<std::byte>> drawn_by_graphviz(std::string_view dot, const std::string& format);

}  // namespace millrace::cli
