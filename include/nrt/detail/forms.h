// How a macro that has the name of a function recognises which form of the function a call uses: by
// the number of arguments. Include nrt/nrt.h or nrt/nrt_async.h instead.
//
// The preprocessor also counts the commas of literals, `(float[]){1, 2}`, and of template
// arguments. So the macros leave a call with an unexpected number of arguments unchanged: as a call
// of the function.
#ifndef NRT_DETAIL_FORMS_H
#define NRT_DETAIL_FORMS_H

#define NRT_DETAIL_ARG3(a1, a2, a3, ...) a3
#define NRT_DETAIL_ARG4(a1, a2, a3, a4, ...) a4
#define NRT_DETAIL_ARG5(a1, a2, a3, a4, a5, ...) a5
#define NRT_DETAIL_ARG7(a1, a2, a3, a4, a5, a6, a7, ...) a7
#define NRT_DETAIL_ARG8(a1, a2, a3, a4, a5, a6, a7, a8, ...) a8
#define NRT_DETAIL_ARG9(a1, a2, a3, a4, a5, a6, a7, a8, a9, ...) a9

// `found` is what follows the arguments that a form has. If it is the mark of a form (NAME, with a
// macro NAME() that is `~, form`), the result is `form`; if it is another argument, `otherwise`.
#define NRT_DETAIL_FORM(found, otherwise) NRT_DETAIL_FORM_OF(found(), otherwise, ~)
#define NRT_DETAIL_FORM_OF(...) NRT_DETAIL_SECOND(__VA_ARGS__)
#define NRT_DETAIL_SECOND(a1, a2, ...) a2

#endif  // NRT_DETAIL_FORMS_H
