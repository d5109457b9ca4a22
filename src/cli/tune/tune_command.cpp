// `millrace tune`, and `millrace compile --tune` after it has written the archive: prints the
// latency of the model with its default kernels and with those that the record chooses.
#include "base/shell_word.h"
#include "cli/commands.h"
#include "cli/print_escaped.h"
#include "cli/report/numbers.h"
#include "cli/supervision/interruption.h"
#include "cli/tune/tune_model.h"

namespace millrace::cli {

Status run_tune(const TuneArguments& arguments) {
  CleanInterruption interruption;
  MILLRACE_RETURN_IF_ERROR(interruption.start());
  MILLRACE_ASSIGN_OR_RETURN(const Tuning tuning, tune_model(arguments));
  const double usual = tuning.usual_ms, tuned = tuning.tuned_ms;
  print_escaped("{}: kernels of {} convolutions chosen by their times\n", tuning.record,
                tuning.convolutions);
  print_escaped(
      "latency with the usual kernels {}, with the chosen ones {}: {:.2f} times as fast\n",
      time_text(usual * 1e6), time_text(tuned * 1e6), usual / tuned);
  if (tuned <= usual)
    print_escaped("programs use it with MILLRACE_TUNING={}\n", shell_word(tuning.record));
  else
    print_escaped(
        "note: kernels are faster by themselves, but the model is not: leave MILLRACE_TUNING unset "
        "for it\n");
  return {};
}

}  // namespace millrace::cli
