// Checks and writes the files of `millrace compile`. Thread-safe.
#pragma once

#include <string>

#include "base/status.h"
#include "cli/commands.h"
#include "cli/report/quantisation_report.h"
#include "model/archive_writer.h"

namespace millrace::cli {

// Whether two paths lead to the same place; the files need not exist yet.
bool same_place(const std::string& a, const std::string& b);

model::ArchiveForm form_of(const CompileArguments& arguments);

// Rejects an archive and further files that would replace the model, another output, or a file that
// must be kept, and those whose folder cannot be written to. To be called before any work is done.
Status check_outputs(const CompileArguments& arguments);

// Does what check_outputs() does for the further outputs only: those of --dump-passes, --emit-qdq
// and
// --report.
Status check_further_outputs(const CompileArguments& arguments);

// Writes the HTML report to the file `page`, unless it is empty.
Status write_report(const QuantisationReport& report, const std::string& page);

}  // namespace millrace::cli
