#include "cli/help/write_pages.h"

#include <filesystem>
#include <span>

#include "cli/help/completion.h"
#include "cli/help/man_page.h"
#include "io/file.h"
#include "model/files/output_file.h"

namespace millrace::cli {
namespace {

Status write_page(const std::filesystem::path& path, const std::string& text) {
  MILLRACE_RETURN_IF_ERROR(model::create_directories(path.parent_path().string()));
  return io::write_file(path.string(), std::as_bytes(std::span(text)));
}

}  // namespace

Status write_pages(const CommandPage& program, const std::string& version,
                   const std::string& folder) {
  const std::filesystem::path root(folder);
  const std::string& name = program.name;
  MILLRACE_RETURN_IF_ERROR(
      write_page(root / "man1" / (name + ".1"), man_page(program, name, version)));
  for (const CommandPage& command : program.commands)
    MILLRACE_RETURN_IF_ERROR(write_page(root / "man1" / (name + "-" + command.name + ".1"),
                                        man_page(command, name, version)));
  MILLRACE_RETURN_IF_ERROR(write_page(root / "bash" / name, bash_completion(program)));
  MILLRACE_RETURN_IF_ERROR(write_page(root / "zsh" / ("_" + name), zsh_completion(program)));
  return write_page(root / "fish" / (name + ".fish"), fish_completion(program));
}

}  // namespace millrace::cli
