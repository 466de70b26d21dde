// Where a thread that holds the interpreter for long hands it over (turns.cpp).
#pragma once

#include <Python.h>

namespace maskwright {

// To be called often, with the GIL: other threads have it once in kTurn, and handlers of signals run.
// Throws nb::python_error with what a handler raised.
void let_others_in();

// Around what is done without the GIL.
void before_release();
void after_release();

}  // namespace maskwright
