// The native API of Millrace, all of it: docs/native-api.md starts with an example.
//
//   Device   what computes            Unit     a bounded queue of jobs, in order
//   Model    loaded on a device       Job      one of them, waited for or detached
//   Buffer   memory both sides see    Status   how every call says what went wrong
//
// No function throws: what can fail returns a Status or a Result. Link libmillrace.
#pragma once

#include "millrace/buffer.hpp"
#include "millrace/device.hpp"
#include "millrace/execution.hpp"
#include "millrace/job.hpp"
#include "millrace/model.hpp"
#include "millrace/status.hpp"
#include "millrace/tensor.hpp"
#include "millrace/unit.hpp"
