// A recogniser's configuration, with all that it has made since it was reset, goes into the store: to be kept.
//
// Stacks and cells refer to older ones only, so each is interned after what it refers to. A set of texts gets the form
// in which equal sets are equal numbers (text_sets.h). Cost: linear in what the items need of what is new.
// Tested by tests/exhaustive.
#pragma once

#include <vector>

#include "recognizer/recognizer.h"

namespace maskwright {

// Moves the scratch stacks and texts that the items need into a store, which is the one that the recogniser was reset
// with; and the text of the values that they are in.
void import_stacks(const Recognizer& recognizer, StackStore& store, std::vector<Item>& items, CellId& text);

}  // namespace maskwright
