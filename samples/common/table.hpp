// A table for the terminal: columns as wide as their widest cell.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace samples {

using TableRow = std::vector<std::string>;

// Prints `title` and the rows below it; the first row is the heading.
void print_table(std::ostream& out, const std::string& title, const std::vector<TableRow>& rows);

// A number with `digits` digits after the point.
std::string fixed(double value, int digits);

}  // namespace samples
