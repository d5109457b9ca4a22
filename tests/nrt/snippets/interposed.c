/* Has a function of its own by the name of one of the library's, as programs do that were written
   before the library had it. The library uses none of the program's. */
#include <nrt/nrt.h>
#include <stdio.h>
#include <stdlib.h>

const char* nrt_get_status_as_str(NRT_STATUS status) {
  (void)status;
  abort();
}

int main(void) {
  nrt_model_t* model = NULL;
  if (nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") != NRT_SUCCESS) return 1;
  if (nrt_load("garbage", 7, 0, 1, &model) != NRT_INVALID)
    return 2; /* names the status in a line */
  nrt_close();
  return 0;
}
