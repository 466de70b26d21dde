// Repetitions that stand in a loop and may be as short as one item need no count: the loop repeats the item anyway.
//
//     (x{1,30} | y)+  =  (x | y)+
//
// A text can be split among counted repetitions in very many ways, each of which would be a reading of its own. The
// repetition may also be all of a rule that the loop names, of a set, a literal or another rule: other uses of that
// rule stay as they are. A span or a capture around the repetition says something of all its items, so it stays, too.
//
// Cost: a look at each node; a copy of the expressions where something changes.
// Tested by tests/exhaustive/test_repetitions_in_loops.py.
#pragma once

#include "grammar/ir.h"

namespace maskwright {

void uncount_loops(GrammarIr& ir);
// Whether that may change anything of the first rules of a grammar, whatever the others are.
bool has_counted_loops(GrammarIr beginning);

}  // namespace maskwright
