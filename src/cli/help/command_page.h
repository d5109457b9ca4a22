// CommandPage: what there is to say about a command, from which its help, its manual page and the
// completion of shells are made. Plain data.
#pragma once

#include <string>
#include <vector>

namespace millrace::cli {

struct OptionPage {
  std::vector<std::string> names;  // "-o", "--output"; of a positional argument "model"
  // This is what the option takes: "FILE", "NAME=SHAPE", or its choices as "fp32|bf16"; empty for a
  // flag, "[=FILE]" where the value may be left out.
  std::string value;
  // Values that shells offer, although the option takes others, too.
  std::vector<std::string> suggestions;
  std::string description;
  std::string group;          // the heading that it is listed under; empty: the usual one
  std::string default_value;  // empty: none
  bool required = false;
  bool repeats = false;

  // Returns the choices; empty unless the value is a list of them.
  std::vector<std::string> choices() const;
  // Returns what shells offer as values: the choices, or the suggestions.
  std::vector<std::string> offers() const;
};

struct CommandPage {
  std::string name;  // the command alone, such as "run"; "millrace" for the program
  std::string description;
  std::vector<OptionPage> positionals, options;
  std::vector<CommandPage> commands;
  // Paragraphs that follow the options. Lines that begin with two blanks are shown as they are.
  std::string footer;
};

}  // namespace millrace::cli
