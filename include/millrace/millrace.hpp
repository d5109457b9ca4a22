// Includes the whole native API of Millrace. docs/native-api.md starts with an example.
//
//   Device   a backend that computes              Unit     a bounded FIFO queue of jobs
//   Model    an archive loaded on a device        Job      the handle of one job
//   Buffer   memory that host and device share    Status   the result of a call
//
// A process may be checked for mistakes in their use: hazards.hpp.
//
// No function throws: functions that can fail return a Status or a Result. Link libmillrace.
#pragma once

#include "millrace/buffer.hpp"
#include "millrace/device.hpp"
#include "millrace/execution.hpp"
#include "millrace/hazards.hpp"
#include "millrace/job.hpp"
#include "millrace/model.hpp"
#include "millrace/statistics.hpp"
#include "millrace/status.hpp"
#include "millrace/tensor.hpp"
#include "millrace/unit.hpp"
