"""Arguments of the wrong type, one level up or down, for every public function and class: each gets a typed error that
says what to pass, and nothing bare comes out of Python or the kernel."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import maskwright as mw
from maskwright import grammars, lint, openai_shapes, structural_tag
from maskwright.events import EventReader
from oracle.vocabularies import BYTES

INFO = BYTES.info()
COMPILER = mw.GrammarCompiler(INFO)
COMPILED = COMPILER.compile_regex("[a-z]+")
GRAMMAR = mw.Grammar.from_regex("a+")
BITMASK = mw.allocate_token_bitmask(4, INFO.vocab_size)
LOGITS = np.zeros((4, INFO.vocab_size), np.float32)
TAG = {"format": {"type": "const_string", "value": "a"}}


def matcher() -> mw.GrammarMatcher:
    return mw.GrammarMatcher(COMPILED)


def batch() -> mw.BatchGrammarMatcher:
    return mw.BatchGrammarMatcher([matcher()])


GIVEN: dict[str, Any] = {
    "None": None,
    "an int": 3,
    "a negative int": -3,
    "a float": 1.5,
    "a bool": True,
    "a str": "x",
    "half a character": "\ud800",
    "bytes": b"x",
    "a list of ints": [1],
    "a list of str": ["x"],
    "a nested list": [[None]],
    "an empty list": [],
    "a dict": {},
    "an object": object(),
    "a class": int,
    "a TokenizerInfo": INFO,
    "a GrammarCompiler": COMPILER,
    "a CompiledGrammar": COMPILED,
    "a Grammar": GRAMMAR,
    "a GrammarMatcher": matcher(),
    "a BatchGrammarMatcher": batch(),
    "an array of floats": np.zeros(3),
    "an array of ints": np.zeros(3, np.int64),
}


class Case(NamedTuple):
    call: Callable[[Any], Any]
    expected: str  # what the errors of type ArgumentError say to pass
    accepted: str = ""  # what is right, or is an error of another kind in some cases


INTS = "an int, a negative int"
TEXTS = "a str, half a character"
ID_LISTS = "a list of ints, an empty list, an array of ints"


def _of_compiler(kind: str, accepted: str, expected: str) -> dict[str, Case]:
    return {
        f"compile_{kind}": Case(lambda v: getattr(COMPILER, f"compile_{kind}")(v), expected, accepted),
        f"compile_{kind}_async": Case(
            lambda v: getattr(COMPILER, f"compile_{kind}_async")(v).result(10), expected, accepted
        ),
        f"Grammar.from_{kind}": Case(lambda v: getattr(mw.Grammar, f"from_{kind}")(v), expected, accepted),
    }


CASES: dict[str, Case] = {
    "GrammarCompiler": Case(mw.GrammarCompiler, "a TokenizerInfo or a tokenizer", "a TokenizerInfo"),
    "GrammarCompiler.max_threads": Case(lambda v: mw.GrammarCompiler(INFO, max_threads=v), "an int", "an int"),
    "GrammarCompiler.cache_limit_bytes": Case(
        lambda v: mw.GrammarCompiler(INFO, cache_limit_bytes=v), "an int", "an int"
    ),
    "GrammarCompiler.grammar_limit_bytes": Case(
        lambda v: mw.GrammarCompiler(INFO, grammar_limit_bytes=v), "an int", "an int"
    ),
    **_of_compiler("json_schema", "a bool, a dict, a class", "a JSON Schema"),
    **_of_compiler("regex", "a str, half a character", "a str"),
    **_of_compiler("lark", "", "a str"),
    **_of_compiler("choices", "a list of str", "str or bytes"),
    **_of_compiler("structural_tag", "", "a structural tag"),
    "Grammar.from_ebnf": Case(mw.Grammar.from_ebnf, "a str"),
    "compile_grammar": Case(COMPILER.compile_grammar, "a Grammar or an EBNF text", "a Grammar"),
    "compile_grammar_async": Case(
        lambda v: COMPILER.compile_grammar_async(v).result(10), "a Grammar or an EBNF text", "a Grammar"
    ),
    "compile_regex.flags": Case(lambda v: COMPILER.compile_regex("a", flags=v), "a str", "a str"),
    "compile_grammar.root": Case(lambda v: COMPILER.compile_grammar('root ::= "a"', v), "a str"),
    "compile_lark.start": Case(lambda v: COMPILER.compile_lark('start: "a"', v), "a str"),
    "compile_lark.grammars": Case(
        lambda v: COMPILER.compile_lark('start: "a"', grammars=v), "a dict by names", "None, a dict"
    ),
    "compile_lark.modules": Case(
        lambda v: COMPILER.compile_lark('start: "a"', modules=v), "a dict by names", "None, a dict"
    ),
    "from_lark, one of grammars": Case(
        lambda v: mw.Grammar.from_lark('start: "a"', grammars={"a": v}), "a Grammar", "a Grammar"
    ),
    "from_structural_tag.tokenizer_info": Case(
        lambda v: mw.Grammar.from_structural_tag(TAG, tokenizer_info=v), "a TokenizerInfo", "None, a TokenizerInfo"
    ),
    "Grammar": Case(mw.Grammar, "a GrammarIR"),
    "Grammar.concat": Case(mw.Grammar.concat, "a Grammar", "a Grammar"),
    "Grammar.union": Case(lambda v: mw.Grammar.union(GRAMMAR, v), "a Grammar", "a Grammar"),
    "Grammar +": Case(lambda v: GRAMMAR + v, "a Grammar", "a Grammar"),
    "Grammar |": Case(lambda v: GRAMMAR | v, "a Grammar", "a Grammar"),
    "CompiledGrammar": Case(
        lambda v: mw.CompiledGrammar(v, INFO, memory_budget_bytes=1 << 20), "a Grammar", "a Grammar"
    ),
    "CompiledGrammar.tokenizer_info": Case(
        lambda v: mw.CompiledGrammar(GRAMMAR, v, memory_budget_bytes=1 << 20), "a TokenizerInfo", "a TokenizerInfo"
    ),
    "CompiledGrammar.memory_budget_bytes": Case(
        lambda v: mw.CompiledGrammar(GRAMMAR, INFO, memory_budget_bytes=v), "an int", "an int"
    ),
    "CompiledGrammar.precompute": Case(COMPILED.precompute, "a number", INTS + ", a float"),
    "check": Case(mw.check, "a JSON Schema", "a bool, a dict, a class"),
    "GrammarMatcher": Case(mw.GrammarMatcher, "a CompiledGrammar", "a CompiledGrammar"),
    "GrammarMatcher.override_stop_tokens": Case(
        lambda v: mw.GrammarMatcher(COMPILED, override_stop_tokens=v),
        "override_stop_tokens must be",
        "None, an int, a list of ints, an empty list, a dict, an array of ints",
    ),
    "GrammarMatcher.max_tokens": Case(lambda v: mw.GrammarMatcher(COMPILED, max_tokens=v), "an int", "None, an int"),
    "GrammarMatcher.default_temperature": Case(
        lambda v: mw.GrammarMatcher(COMPILED, default_temperature=v), "a number", "None, an int, a float"
    ),
    "matcher.traverse_draft_tree.time_threshold": Case(
        lambda v: matcher().traverse_draft_tree([-1], [-1], [0], BITMASK, v), "a number", INTS + ", a float"
    ),
    "matcher.traverse_draft_tree.temperatures": Case(
        lambda v: matcher().traverse_draft_tree([-1], [-1], [0], BITMASK, temperatures=v), "", "None"
    ),
    "matcher.accept_token": Case(lambda v: matcher().accept_token(v), "an int", INTS),
    "matcher.accept_tokens": Case(
        lambda v: matcher().accept_tokens(v), "token_ids must be", ID_LISTS + ", a dict, bytes"
    ),
    "matcher.validate_tokens": Case(
        lambda v: matcher().validate_tokens(v), "token_ids must be", ID_LISTS + ", a dict, bytes"
    ),
    "matcher.accept_string": Case(lambda v: matcher().accept_string(v), "a str or bytes", TEXTS + ", bytes"),
    "matcher.fill_next_token_bitmask": Case(lambda v: matcher().fill_next_token_bitmask(v), ""),
    "matcher.fill_next_token_bitmask.index": Case(
        lambda v: matcher().fill_next_token_bitmask(BITMASK, v), "an int", "an int"
    ),
    "matcher.fill_draft_bitmask": Case(
        lambda v: matcher().fill_draft_bitmask(v, BITMASK), "draft_tokens must be", ID_LISTS + ", a dict, bytes"
    ),
    "matcher.fill_draft_bitmask.bitmask": Case(lambda v: matcher().fill_draft_bitmask([], v), ""),
    "matcher.fill_draft_bitmask.index": Case(
        lambda v: matcher().fill_draft_bitmask([], BITMASK, v), "an int", "an int"
    ),
    "matcher.traverse_draft_tree.retrieve_next_token": Case(
        lambda v: matcher().traverse_draft_tree(v, [-1], [0], BITMASK), "retrieve_next_token must be"
    ),
    "matcher.traverse_draft_tree.retrieve_next_sibling": Case(
        lambda v: matcher().traverse_draft_tree([-1], v, [0], BITMASK), "retrieve_next_sibling must be"
    ),
    "matcher.traverse_draft_tree.draft_tokens": Case(
        lambda v: matcher().traverse_draft_tree([-1], [-1], v, BITMASK), "draft_tokens must be", "a list of ints, bytes"
    ),
    "matcher.traverse_draft_tree.bitmask": Case(lambda v: matcher().traverse_draft_tree([-1], [-1], [0], v), ""),
    "matcher.precompute": Case(lambda v: matcher().precompute(v), "a number", INTS + ", a float"),
    "matcher.rollback": Case(lambda v: matcher().rollback(v), "an int"),
    "matcher.find_jump_forward_tokens": Case(
        lambda v: mw.GrammarMatcher(COMPILER.compile_regex("abc")).find_jump_forward_tokens(None if callable(v) else v),
        "a function",
    ),
    "BatchGrammarMatcher": Case(mw.BatchGrammarMatcher, "GrammarMatcher", "an empty list, a dict"),
    "BatchGrammarMatcher, one": Case(lambda v: mw.BatchGrammarMatcher([v]), "a GrammarMatcher", "a GrammarMatcher"),
    "BatchGrammarMatcher.max_threads": Case(
        lambda v: mw.BatchGrammarMatcher([matcher()], max_threads=v), "an int", "None, an int"
    ),
    "batch.accept_token": Case(lambda v: batch().accept_token(v), "token_ids must be", "a list of ints, bytes"),
    "batch.accept_tokens": Case(lambda v: batch().accept_tokens(v), "token"),
    "batch.accept_tokens, one": Case(
        lambda v: batch().accept_tokens([v]), "each of token_ids must be", ID_LISTS + ", a dict, bytes"
    ),
    "batch.validate_tokens, one": Case(
        lambda v: batch().validate_tokens([v]), "each of token_ids must be", ID_LISTS + ", a dict, bytes"
    ),
    "batch.accept_string": Case(lambda v: batch().accept_string(v), "str or bytes", "a list of str"),
    "batch.fill_next_token_bitmask": Case(lambda v: batch().fill_next_token_bitmask(v), ""),
    "batch.fill_next_token_bitmask.indices": Case(
        lambda v: batch().fill_next_token_bitmask(BITMASK, v), "indices must be", "None, a list of ints"
    ),
    "batch.fill_draft_bitmask, one": Case(
        lambda v: batch().fill_draft_bitmask([v], BITMASK), "draft_tokens must be", ID_LISTS + ", a dict, bytes"
    ),
    "batch.rollback": Case(lambda v: batch().rollback(v), "num_tokens must be"),
    "TokenizerInfo": Case(lambda v: mw.TokenizerInfo(v, 300), "the bytes of every id", "an empty list"),
    "TokenizerInfo.from_huggingface": Case(mw.TokenizerInfo.from_huggingface, ""),
    "TokenizerInfo.from_tiktoken": Case(mw.TokenizerInfo.from_tiktoken, ""),
    "TokenizerInfo.from_sentencepiece": Case(mw.TokenizerInfo.from_sentencepiece, ""),
    "TokenizerInfo.from_mistral": Case(mw.TokenizerInfo.from_mistral, ""),
    "TokenizerInfo.from_llama_cpp": Case(mw.TokenizerInfo.from_llama_cpp, ""),
    "TokenizerInfo.from_vocab": Case(lambda v: mw.TokenizerInfo.from_vocab(v, stop_token_ids=[]), "", "a list of str"),
    "TokenizerInfo.from_vocab.stop_token_ids": Case(
        lambda v: mw.TokenizerInfo.from_vocab(["a"] * 4, stop_token_ids=v), "", ID_LISTS + ", a dict"
    ),
    "info.decode": Case(INFO.decode, "a list of token ids", ID_LISTS + ", a dict"),
    "info.encode": Case(INFO.encode, "a str"),
    "allocate_token_bitmask": Case(lambda v: mw.allocate_token_bitmask(v, 10), "an int", "an int"),
    "allocate_token_bitmask.vocab_size": Case(lambda v: mw.allocate_token_bitmask(1, v), "an int", "an int"),
    "allocate_token_bitmask.library": Case(lambda v: mw.allocate_token_bitmask(1, 10, library=v), "numpy"),
    "apply_token_bitmask_inplace": Case(lambda v: mw.apply_token_bitmask_inplace(v, BITMASK), ""),
    "apply_token_bitmask_inplace.bitmask": Case(lambda v: mw.apply_token_bitmask_inplace(LOGITS, v), ""),
    "apply_token_bitmask_inplace.vocab_size": Case(
        lambda v: mw.apply_token_bitmask_inplace(LOGITS, BITMASK, vocab_size=v), "an int", "None, an int"
    ),
    "apply_token_bitmask_inplace.indices": Case(
        lambda v: mw.apply_token_bitmask_inplace(LOGITS, BITMASK, indices=v),
        "indices must be",
        "None, a dict, " + ID_LISTS,
    ),
    "lint": Case(lint, "a Grammar", "a Grammar"),
    "grammars.load": Case(grammars.load, ""),
    "grammars.source": Case(grammars.source, ""),
    "EventReader": Case(EventReader, "a GrammarMatcher"),
    "get_model_structural_tag": Case(structural_tag.get_model_structural_tag, ""),
    "get_model_structural_tag.tools": Case(
        lambda v: structural_tag.get_model_structural_tag("hermes", tools=v), "", "None, an empty list"
    ),
    "get_model_structural_tag.tool_choice": Case(
        lambda v: structural_tag.get_model_structural_tag("hermes", tool_choice=v), "", "None"
    ),
    "get_model_structural_tag.reasoning": Case(
        lambda v: structural_tag.get_model_structural_tag("hermes", reasoning=v), "", "None, a bool"
    ),
    "chat_completion": Case(openai_shapes.chat_completion, "", "a dict"),
    "responses": Case(openai_shapes.responses, "", "a dict"),
    "vllm": Case(openai_shapes.vllm, "", "a dict"),
    "sglang": Case(openai_shapes.sglang, "", "a dict"),
    "chat_completion.tokenizer_info": Case(
        lambda v: openai_shapes.chat_completion({"response_format": {"type": "json_object"}}, tokenizer_info=v),
        "a TokenizerInfo",
        "None, a TokenizerInfo",
    ),
}


def refusal(call: Callable[[Any], Any], value: Any) -> mw.MaskwrightError | None:
    try:
        call(value)
    except mw.MaskwrightError as error:  # anything else fails the test
        return error
    return None


@pytest.mark.parametrize("name", CASES)
def test_each_public_function(name: str) -> None:
    case = CASES[name]
    accepted = set(case.accepted.split(", "))
    for kind, value in GIVEN.items():
        error = refusal(case.call, value)
        assert error is not None or kind in accepted, f"{name} took {kind}"
        if isinstance(error, mw.ArgumentError):
            assert kind not in accepted, error
            assert case.expected in str(error), kind


def test_every_public_class_and_function_is_in_the_table() -> None:
    public = {n for n in mw.__all__ if not (isinstance(getattr(mw, n), type) and issubclass(getattr(mw, n), Exception))}
    assert public - {"Explanation", "GrammarProblem", "GrammarReport", "Origin", "Rejection", "SchemaReport"} <= {
        name.partition(".")[0].partition(",")[0] for name in CASES
    } | set(CASES)


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({}, "compile_json_schema(schema)"),
        (GRAMMAR, "compile_grammar(grammar)"),
        (COMPILER, "compile_ method"),
        (COMPILER.compile_regex_async("a"), "result()"),
        (matcher(), "fork()"),
    ],
    ids=["schema", "grammar", "compiler", "future", "matcher"],
)
def test_a_matcher_says_how_to_come_to_a_compiled_grammar(given: Any, hint: str) -> None:
    with pytest.raises(mw.ArgumentError) as caught:
        mw.GrammarMatcher(given)
    assert caught.value.argument == "compiled_grammar"
    assert hint in str(caught.value)


def test_the_logits_processor() -> None:
    pytest.importorskip("torch")
    transformers = pytest.importorskip("maskwright.integrations.transformers")
    for given in (COMPILER, GRAMMAR, None, [None], "x", {}):
        with pytest.raises(mw.ArgumentError, match="compiled must be a CompiledGrammar"):
            transformers.GrammarLogitsProcessor(given)
    processor = transformers.GrammarLogitsProcessor(COMPILED)
    with pytest.raises(mw.ArgumentError, match=r"input_ids must be a torch\.Tensor"):
        processor([[1]], None)


@pytest.mark.parametrize(
    ("thing", "hint", "can_be_copied"),
    [
        (COMPILED, "its serialize()", True),
        (COMPILER, "its tokenizer_info", False),
        (matcher(), "token ids", True),
        (batch(), "forks", False),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_what_cannot_be_pickled_says_what_to_pickle(thing: Any, hint: str, can_be_copied: bool) -> None:
    for make in (pickle.dumps, copy.deepcopy) if not can_be_copied else (pickle.dumps,):
        with pytest.raises(mw.ArgumentError) as caught:
            make(thing)
        assert hint in str(caught.value)
        assert ("cannot be copied or pickled" in str(caught.value)) is not can_be_copied


def test_what_the_hints_on_pickling_say_works() -> None:
    grammar, info = pickle.loads(pickle.dumps((COMPILED.grammar, COMPILED.tokenizer_info)))
    assert mw.GrammarMatcher(mw.GrammarCompiler(info).compile_grammar(grammar)).accept_string("abc")


def test_a_compiled_grammar_is_its_own_copy() -> None:
    assert copy.copy(COMPILED) is COMPILED
    assert copy.deepcopy({"grammar": COMPILED})["grammar"] is COMPILED


@pytest.mark.parametrize(
    ("call", "way_out"),
    [
        (lambda: COMPILER.compile_json_schema('root ::= "a"'), "EBNF: use compile_grammar"),
        (lambda: COMPILER.compile_json_schema("{'type': 'object'}"), "write JSON: strings and names in double quotes"),
        (lambda: COMPILER.compile_json_schema("schema.json"), "file name"),
        (lambda: COMPILER.compile_json_schema(structural_tag.StructuralTag.from_json(TAG)), "compile_structural_tag"),
        (lambda: COMPILER.compile_json_schema(GRAMMAR), "compile_grammar"),
        (lambda: COMPILER.compile_grammar(structural_tag.StructuralTag.from_json(TAG)), "compile_structural_tag"),
        (lambda: COMPILER.compile_grammar('{"type": "object"}'), "JSON: for a JSON Schema, use compile_json_schema"),
        (lambda: COMPILER.compile_structural_tag([{"name": "f"}]), r"get_model_structural_tag\(model, tools\)"),
        (lambda: COMPILER.compile_structural_tag("hermes"), "the text of a JSON object"),
        (lambda: COMPILER.compile_regex(re.compile("a")), r"pattern\.pattern"),
        (lambda: mw.Grammar.from_regex(re.compile("a")), r"pattern\.pattern"),
        (lambda: mw.Grammar.from_regex("a", flags=re.IGNORECASE), "'i' for re.IGNORECASE"),
        (lambda: structural_tag.get_model_structural_tag([], "hermes"), "name comes first"),
        (lambda: mw.allocate_token_bitmask(1, INFO), "tokenizer_info.vocab_size"),
    ],
)
def test_what_belongs_to_another_entrance_is_sent_there(call: Any, way_out: str) -> None:
    with pytest.raises(mw.MaskwrightError, match=way_out) as caught:
        call()
    assert caught.value.hint


def test_a_reader_of_a_grammar_without_captures() -> None:
    with pytest.raises(mw.MatcherError, match="no captures") as caught:
        EventReader(matcher())
    assert "get_model_structural_tag" in str(caught.value)


def test_errors_of_a_callers_own_iterator_come_through() -> None:
    def broken() -> Any:
        yield [ord("a")]
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        matcher().accept_tokens(token for ids in broken() for token in ids)
    with pytest.raises(KeyError, match="mine"):
        batch().accept_tokens(broken())


def arrays_of(data: Any) -> list[Any]:
    """As an array of numpy, and as a tensor where torch is installed."""
    try:
        import torch
    except ImportError:
        return [np.array(data)]
    return [np.array(data), torch.tensor(data)]


@pytest.mark.parametrize("data", [97, [97], [[97]]])
def test_an_array_of_one_integer_is_a_token_whatever_its_shape(data: Any) -> None:
    for token in arrays_of(data):
        assert matcher().accept_token(token)
        assert matcher().explain(token).allowed
        assert batch().accept_token([token]) == [True]
        assert mw.GrammarMatcher(COMPILED, override_stop_tokens=[token]).stop_token_ids == [97]


@pytest.mark.parametrize("data", [[97, 98], [[97], [98]]])
def test_tokens_of_a_batch_are_one_dimension_or_a_column(data: Any) -> None:
    for tokens in arrays_of(data):
        both = mw.BatchGrammarMatcher([matcher(), matcher()])
        assert both.accept_token(tokens) == [True, True]
        assert matcher().accept_tokens(tokens) == 2


@pytest.mark.parametrize("data", [97.0, [97.0], [[97.0]], [97, 98], [[97, 98]], [97.0, 98.0]])
def test_hints_about_one_token_work(data: Any) -> None:
    for value in arrays_of(data):
        with pytest.raises(mw.ArgumentError) as caught:
            matcher().accept_token(value)
        (way,) = re.findall(r"int\(.*\)", caught.value.hint or "")
        assert matcher().accept_token(eval(way, {"value": value}))


@pytest.mark.parametrize("data", [97, [97.0, 98.0], [[97, 98]]])
def test_hints_about_several_tokens_work(data: Any) -> None:
    for value in arrays_of(data):
        with pytest.raises(mw.ArgumentError, match=r"token_ids must be a sequence of ints, not [nt]") as caught:
            matcher().accept_tokens(value)
        way = (caught.value.hint or "").removeprefix("pass ").removeprefix("one dimension, such as ")
        assert matcher().accept_tokens(eval(way, {"value": value}))


def test_what_is_wrong_in_a_list_is_named() -> None:
    with pytest.raises(mw.ArgumentError, match="each of token_ids must be an int, not str"):
        matcher().accept_tokens([97, "b"])  # type: ignore[list-item]
    with pytest.raises(mw.ArgumentError, match="data must be bytes, not str\n  hint: accept_string"):
        matcher().accept_bytes("a")  # type: ignore[arg-type]
