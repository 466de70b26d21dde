// What a scope holds: whether texts are recalled only where they are remembered, and whether it has values instead.
//
// A front-end sees to that by scopes (src/maskwright/ir/remembered.py); grammars that others made, or read from a file,
// are checked here, since a recall without a text would be a dead end. What is remembered holds to the end of the
// sequence that it stands in, unless a text with the same or a higher number is remembered after it: that one takes
// its place in the environment (recognizer/remembered.h). Values (Op::Value) are compared with all those before them in
// the scope, which remembers nothing else then.
//
//     {#9=[a-z]+ (#8="q"+ #8 #9)* #9}   holds          {#8="q" #9=[a-z]+ #8 #9}   does not: #9 takes the place of #8
//
// Cost: linear in the scope. Tested by tests/kernel/test_text_scopes.py.
#pragma once

#include "grammar/expr_properties.h"
#include "grammar/ir.h"

namespace maskwright {

// `body` is what the scope holds. Returns whether that are values. Throws MalformedGrammar.
bool check_text_scope(const GrammarIr& ir, const std::vector<ExprProperties>& properties, ExprId body);

}  // namespace maskwright
