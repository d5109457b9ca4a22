// Converts the report on a quantisation to Python. The GIL is held.
#pragma once

#include <pybind11/pybind11.h>

#include "cli/report/quantisation_report.h"
#include "quantise/measure/output_agreement.h"

namespace millrace::python {

// Returns a dict with the members of the report but for its pictures, and with the agreement of the
// outputs. "layers" is a list of dicts; what was not measured is None.
pybind11::dict report_dict(const cli::QuantisationReport& report,
                           const quantise::OutputAgreement& outputs);

}  // namespace millrace::python
