// Collectives as requests at the NRT face.
#pragma once

namespace millrace::bench {

// What nrta_cc_prepare and nrta_cc_schedule cost their caller, and what a request allocates.
void report_requests();
// How well all-reduces hide behind executions, with times that are injected.
void report_overlap();

}  // namespace millrace::bench
