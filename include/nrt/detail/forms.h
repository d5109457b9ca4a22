// How a macro under the name of a function tells which form of the function a call is in: by the
// number of arguments. Include nrt/nrt.h or nrt/nrt_async.h instead.
//
// The preprocessor also counts the commas of literals, `(float[]){1, 2}`, and of template
// arguments. So the macros take a call whose number of arguments they do not know for what it is: a
// call of the function.
#ifndef NRT_DETAIL_FORMS_H
#define NRT_DETAIL_FORMS_H

#define NRT_DETAIL_ARG3(a1, a2, a3, ...) a3
#define NRT_DETAIL_ARG4(a1, a2, a3, a4, ...) a4
#define NRT_DETAIL_ARG5(a1, a2, a3, a4, a5, ...) a5
#define NRT_DETAIL_ARG7(a1, a2, a3, a4, a5, a6, a7, ...) a7
#define NRT_DETAIL_ARG8(a1, a2, a3, a4, a5, a6, a7, a8, ...) a8
#define NRT_DETAIL_ARG9(a1, a2, a3, a4, a5, a6, a7, a8, a9, ...) a9

// `found` is what stands behind the arguments that a form has: its mark, NAME with a macro NAME()
// that is `~, form`, or else an argument, whatever it looks like: then `otherwise`.
#define NRT_DETAIL_FORM(found, otherwise) NRT_DETAIL_FORM_OF(found(), otherwise, ~)
#define NRT_DETAIL_FORM_OF(...) NRT_DETAIL_SECOND(__VA_ARGS__)
#define NRT_DETAIL_SECOND(a1, a2, ...) a2

#endif  // NRT_DETAIL_FORMS_H
