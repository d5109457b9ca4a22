#include "cli/help/command_page.h"

#include <sstream>

namespace millrace::cli {

std::vector<std::string> OptionPage::choices() const {
  std::vector<std::string> found;
  if (value.find('|') == value.npos) return found;
  std::istringstream names(value);
  for (std::string name; std::getline(names, name, '|');) found.push_back(name);
  return found;
}

std::vector<std::string> OptionPage::offers() const {
  std::vector<std::string> found = choices();
  return found.empty() ? suggestions : found;
}

}  // namespace millrace::cli
