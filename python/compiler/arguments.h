// Reads the options that compiler.py passes as a dict into the arguments of the commands. The GIL
// is held.
#pragma once

#include <pybind11/pybind11.h>

#include "cli/commands.h"
#include "inputs.h"

namespace millrace::python {

// Keys are the members of the arguments and of the structures inside them; a key that is missing
// leaves the default. All throw pybind11::type_error for a key that means nothing and for a value
// of the wrong type.
cli::CompileArguments compile_arguments(const pybind11::dict& options);
cli::CompareArguments compare_arguments(const pybind11::dict& options);
cli::EvaluateArguments evaluate_arguments(const pybind11::dict& options);
cli::TuneArguments tune_arguments(const pybind11::dict& options);
cli::ExplainArguments explain_arguments(const pybind11::dict& options);
InputArguments input_arguments(const pybind11::dict& options);

}  // namespace millrace::python
