#include "cli/help/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace millrace::cli {
namespace {

// Returns the text within single quotes of a shell, each quote in it replaced by `quote`.
std::string quoted(std::string_view text, std::string_view quote) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'')
      result += quote;
    else
      result += c;
  }
  return result + "'";
}

std::string in_shell_quotes(std::string_view text) {
  return quoted(text, "'\\''");
}

bool takes_value(const OptionPage& option) {
  return !option.value.empty() && !option.value.starts_with('[');
}

std::string all_names(const CommandPage& page) {
  std::vector<std::string> names;
  for (const OptionPage& option : page.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return fmt::format("{}", fmt::join(names, " "));
}

std::string command_names(const CommandPage& program) {
  std::vector<std::string> names;
  for (const CommandPage& command : program.commands) names.push_back(command.name);
  return fmt::format("{}", fmt::join(names, " "));
}

// Returns the argument by which compgen offers the words.
std::string bash_words(const std::vector<std::string>& words) {
  return fmt::format("-W {}", in_shell_quotes(fmt::format("{}", fmt::join(words, " "))));
}

// Returns what shells offer as arguments of a command; empty for files.
std::vector<std::string> arguments_of(const CommandPage& command) {
  for (const OptionPage& positional : command.positionals)
    if (!positional.offers().empty()) return positional.offers();
  return {};
}

// Returns the case of a bash script for the values of an option.
std::string bash_values(const CommandPage& command, const OptionPage& option) {
  std::vector<std::string> patterns;
  for (const std::string& name : option.names)
    patterns.push_back(fmt::format("'{} {}'", command.name, name));
  const std::vector<std::string> words = option.offers();
  return fmt::format(
      "    {}) COMPREPLY=($(compgen {} -- \"$current\")); return ;;\n", fmt::join(patterns, "|"),
      words.empty() ? std::string(option.value == "DIR" ? "-d" : "-f") : bash_words(words));
}

// Within brackets and colons, zsh's _arguments needs both escaped.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_action(const OptionPage& option) {
  const std::vector<std::string> words = option.offers();
  if (!words.empty()) return fmt::format("({})", fmt::join(words, " "));
  return option.value == "DIR" ? "_files -/" : "_files";
}

std::string zsh_option(const OptionPage& option, const std::string& name) {
  std::string spec = option.repeats ? "*" : "";
  spec += fmt::format("{}[{}]", name, zsh_text(option.description));
  if (takes_value(option)) spec += ":value:" + zsh_action(option);
  return in_shell_quotes(spec);
}

std::string zsh_command(const CommandPage& command) {
  std::string text = fmt::format("    {})\n      _arguments", command.name);
  for (const OptionPage& option : command.options)
    for (const std::string& name : option.names) text += " \\\n        " + zsh_option(option, name);
  const std::vector<std::string> words = arguments_of(command);
  const std::string arguments =
      words.empty() ? "'*:file:_files'" : fmt::format("'*:argument:({})'", fmt::join(words, " "));
  return text + " \\\n        " + arguments + "\n      ;;\n";
}

std::string fish_quotes(std::string_view text) {
  return quoted(text, "\\'");
}

std::string fish_option(const CommandPage& command, const OptionPage& option) {
  std::string line =
      fmt::format("complete -c millrace -n '__fish_seen_subcommand_from {}'", command.name);
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  const std::vector<std::string> words = option.offers();
  if (!words.empty())
    line += " -x -a " + fish_quotes(fmt::format("{}", fmt::join(words, " ")));
  else if (takes_value(option))
    line += " -r";
  return line + " -d " + fish_quotes(option.description) + "\n";
}

}  // namespace

std::string bash_completion(const CommandPage& program) {
  std::string text =
      "# Completion of millrace in bash.\n"
      "_millrace() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= word\n"
      "  if [[ $current == = ]]; then\n"
      "    current=\n"
      "  elif [[ $before == = ]]; then\n"
      "    before=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  fi\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    if [[ $word != -* ]]; then command=$word; break; fi\n"
      "  done\n"
      "  case \"$command $before\" in\n";
  for (const CommandPage& command : program.commands)
    for (const OptionPage& option : command.options)
      if (takes_value(option)) text += bash_values(command, option);
  text += "  esac\n  local words= arguments=(-f)\n  case \"$command\" in\n";
  for (const CommandPage& command : program.commands) {
    const std::vector<std::string> offered = arguments_of(command);
    text += fmt::format(
        "    {}) words={}{} ;;\n", command.name, in_shell_quotes(all_names(command)),
        offered.empty() ? std::string() : fmt::format("; arguments=({})", bash_words(offered)));
  }
  text += fmt::format("    '') words={} ;;\n  esac\n",
                      in_shell_quotes(command_names(program) + " " + all_names(program)));
  return text +
         "  if [[ -z $command || $current == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen \"${arguments[@]}\" -- \"$current\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _millrace millrace\n";
}

std::string zsh_completion(const CommandPage& program) {
  std::string text =
      "#compdef millrace\n"
      "# Completion of millrace in zsh.\n"
      "if (( CURRENT == 2 )); then\n"
      "  local -a commands=(\n";
  for (const CommandPage& command : program.commands)
    text += fmt::format("    {}\n",
                        in_shell_quotes(command.name + ":" + zsh_text(command.description)));
  text +=
      "  )\n"
      "  _describe command commands\n"
      "else\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $words[1] in\n";
  for (const CommandPage& command : program.commands) text += zsh_command(command);
  return text + "  esac\nfi\n";
}

std::string fish_completion(const CommandPage& program) {
  std::string text = "# Completion of millrace in fish.\n";
  for (const CommandPage& command : program.commands)
    text += fmt::format("complete -c millrace -f -n __fish_use_subcommand -a {} -d {}\n",
                        command.name, fish_quotes(command.description));
  for (const CommandPage& command : program.commands) {
    for (const OptionPage& option : command.options) text += fish_option(command, option);
    if (const std::vector<std::string> words = arguments_of(command); !words.empty())
      text += fmt::format("complete -c millrace -f -n '__fish_seen_subcommand_from {}' -a {}\n",
                          command.name, fish_quotes(fmt::format("{}", fmt::join(words, " "))));
  }
  return text;
}

}  // namespace millrace::cli
