// Where a thread that holds the interpreter for long hands it over (interruption.cpp).
#pragma once

#include <Python.h>

namespace maskwright {

// To be called often, with the GIL: other threads have it once in kTurn, and handlers of signals run.
// Throws nb::python_error with what a handler raised.
void interrupt_checkpoint();

// Around what is done without the GIL.
void before_release();
void after_release();

}  // namespace maskwright
