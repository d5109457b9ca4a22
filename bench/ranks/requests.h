// Collectives as requests at the NRT face.
#pragma once

namespace millrace::bench {

// Measures nrta_cc_prepare and nrta_cc_schedule for their caller, and allocations of a request.
void report_requests();
// Measures how well all-reduces overlap with executions, with times that are injected.
void report_overlap();

}  // namespace millrace::bench
