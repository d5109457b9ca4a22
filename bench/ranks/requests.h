// Measures collectives as asynchronous requests at the NRT face.
#pragma once

namespace millrace::bench {

// Measures the time of nrta_cc_prepare and nrta_cc_schedule on the calling thread, and the
// allocations of a request.
void report_requests();
// Measures how well all-reduces overlap with executions; the times of both are injected delays.
void report_overlap();

}  // namespace millrace::bench
