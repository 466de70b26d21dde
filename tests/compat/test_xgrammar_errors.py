"""Errors of the compatibility module: caught as XGrammar's are, with the fields of Maskwright's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="an optional dependency")
pytest.importorskip("pydantic", reason="an optional dependency")
from xgrammar_cases import END, WORDS  # noqa: E402

import maskwright.compat.xgrammar as xgr  # noqa: E402
from maskwright import errors  # noqa: E402
from maskwright.compat.xgrammar import exception  # noqa: E402

INFO = xgr.TokenizerInfo(WORDS)
COMPILED = xgr.GrammarCompiler(INFO).compile_regex("a+")
MATCHER = xgr.GrammarMatcher(COMPILED)
ENDED = MATCHER.fork()
assert ENDED.accept_string("a")
assert ENDED.accept_token(END)
LOGITS, BITMASK = torch.zeros(2, 17), xgr.allocate_token_bitmask(2, 17)
ITEM = xgr.StructuralTagItem(begin="<a>", schema="{", end="</a>")
DEEP: dict[str, Any] = {}
for _ in range(100_000):
    DEEP = {"items": DEEP}


def apply_to(indices: Any, backend: Any) -> Callable[[], Any]:
    return lambda: xgr.apply_token_bitmask_inplace(LOGITS, BITMASK, indices=indices, backend=backend)


# what is called, the builtin that XGrammar 0.2.8 raises, and ours
CASES: list[tuple[Callable[[], Any], type[Exception], type[Exception]]] = [
    (lambda: xgr.Grammar.from_ebnf('root := "a'), RuntimeError, errors.EbnfSyntaxError),
    (lambda: xgr.Grammar.from_ebnf(3), TypeError, errors.ArgumentError),  # type: ignore[arg-type]
    (lambda: xgr.Grammar.from_regex("(a"), RuntimeError, errors.RegexSyntaxError),
    (lambda: xgr.Grammar.from_lark('start "a"'), RuntimeError, errors.LarkSyntaxError),
    (lambda: xgr.Grammar.from_lark("start: @x", named_grammars={"x": 3}), TypeError, errors.ArgumentError),  # type: ignore[dict-item]
    (lambda: xgr.Grammar.from_json_schema("{"), RuntimeError, errors.SchemaError),
    (lambda: xgr.Grammar.from_json_schema(3), ValueError, errors.SchemaError),  # type: ignore[arg-type]
    (lambda: xgr.Grammar.from_json_schema({"type": "foo"}), RuntimeError, errors.SchemaError),
    (lambda: xgr.Grammar.from_json_schema("false"), RuntimeError, errors.UnsatisfiableError),
    (lambda: xgr.Grammar.from_json_schema({}, max_whitespace_cnt=-1), RuntimeError, errors.OptionError),
    (lambda: xgr.Grammar.from_structural_tag("{"), RuntimeError, xgr.InvalidJSONError),
    (lambda: xgr.Grammar.from_structural_tag({}), RuntimeError, xgr.InvalidStructuralTagError),
    (lambda: xgr.Grammar.from_structural_tag(), TypeError, errors.ArgumentError),
    (lambda: xgr.Grammar.from_structural_tag(3), TypeError, errors.ArgumentError),
    (lambda: xgr.Grammar.deserialize_json("{"), RuntimeError, xgr.InvalidJSONError),
    (lambda: xgr.Grammar.deserialize_json("{}"), RuntimeError, xgr.DeserializeVersionError),
    (lambda: xgr.Grammar.from_structural_tag(None, ["<a"]), TypeError, errors.ArgumentError),
    (lambda: xgr.Grammar.from_structural_tag([], None), TypeError, errors.ArgumentError),
    (lambda: xgr.Grammar.from_structural_tag([ITEM], ["<a"]), ValueError, xgr.InvalidJSONError),
    (lambda: xgr.StructuralTag.from_json(3), ValueError, errors.ArgumentError),  # type: ignore[arg-type]
    (lambda: xgr.Grammar.from_json_schema({"const": {1, 2}}), ValueError, errors.SchemaError),
    (lambda: xgr.Grammar.from_json_schema('{"minimum": 1e' + "9" * 30 + "}"), RuntimeError, errors.LimitError),
    (lambda: xgr.Grammar.from_json_schema(DEEP), RuntimeError, errors.LimitError),
    (lambda: xgr.GrammarCompiler(INFO).compile_json_schema(DEEP), RuntimeError, errors.LimitError),
    (lambda: xgr.TokenizerInfo(5), TypeError, errors.ArgumentError),  # type: ignore[arg-type]
    (lambda: xgr.TokenizerInfo(WORDS, vocab_size=5), RuntimeError, errors.TokenizerError),
    (lambda: xgr.GrammarCompiler(None), ValueError, errors.ArgumentError),  # type: ignore[arg-type]
    (lambda: xgr.GrammarCompiler(INFO, cache_limit_bytes=-5), RuntimeError, errors.OptionError),
    (lambda: xgr.GrammarCompiler(INFO).compile_grammar(3), ValueError, errors.ArgumentError),  # type: ignore[arg-type]
    (lambda: xgr.GrammarMatcher(None), ValueError, errors.ArgumentError),  # type: ignore[arg-type]
    (lambda: xgr.GrammarMatcher(COMPILED, override_stop_tokens=300), RuntimeError, errors.TokenizerError),
    (lambda: xgr.GrammarMatcher(COMPILED, override_stop_tokens=[]), RuntimeError, errors.OptionError),
    (lambda: xgr.GrammarMatcher(COMPILED, default_temperature=-0.5), RuntimeError, errors.OptionError),
    (lambda: MATCHER.accept_token("a"), TypeError, errors.ArgumentError),  # type: ignore[arg-type]
    (lambda: MATCHER.accept_string(3), RuntimeError, errors.ArgumentError),  # type: ignore[arg-type]
    (lambda: MATCHER.rollback(100), RuntimeError, errors.MatcherError),
    (lambda: MATCHER.fill_next_token_bitmask(None), ValueError, errors.BitmaskError),
    (lambda: MATCHER.fill_next_token_bitmask(xgr.allocate_token_bitmask(1, 17), 5), RuntimeError, errors.BitmaskError),
    (lambda: ENDED.fill_next_token_bitmask(BITMASK), RuntimeError, errors.MatcherError),
    (lambda: ENDED.find_jump_forward_string(), RuntimeError, errors.MatcherError),
    (lambda: xgr.BatchGrammarMatcher(0), RuntimeError, errors.OptionError),
    (lambda: xgr.BatchGrammarMatcher.batch_accept_token([MATCHER], [1, 2]), RuntimeError, errors.MatcherError),
    (lambda: xgr.set_max_recursion_depth(0), RuntimeError, errors.OptionError),
    (lambda: xgr.apply_token_bitmask_inplace(LOGITS, BITMASK, backend="no such"), ValueError, errors.OptionError),  # type: ignore[arg-type]
    (lambda: xgr.apply_token_bitmask_inplace(LOGITS, BITMASK, backend="cuda"), ValueError, errors.BitmaskError),
    (lambda: xgr.apply_token_bitmask_inplace(LOGITS, BITMASK, backend="triton"), ValueError, errors.BitmaskError),
    *(
        (apply_to(indices, backend), RuntimeError, kind)
        for backend in ("auto", "cpu", "torch_native", "torch_compile")
        for indices, kind in (
            ([2], errors.BitmaskError),
            ([-1], errors.BitmaskError),
            (torch.tensor([9]), errors.BitmaskError),
            (["a"], errors.ArgumentError),
        )
    ),
    (lambda: xgr.get_model_structural_tag("no such model"), ValueError, errors.RequestError),
]


@pytest.mark.parametrize(("call", "builtin", "ours"), CASES)
def test_errors_are_caught_as_xgrammars_and_as_ours(
    call: Callable[[], Any], builtin: type[Exception], ours: type[Exception]
) -> None:
    with pytest.raises(builtin) as caught:
        call()
    assert isinstance(caught.value, ours)
    assert isinstance(caught.value, errors.MaskwrightError)
    assert isinstance(caught.value, RuntimeError)
    assert isinstance(caught.value, ValueError)


def test_an_error_keeps_its_fields() -> None:
    with pytest.raises(RuntimeError) as caught:
        xgr.Grammar.from_json_schema({"properties": {"a": {"type": "foo"}}})
    error = caught.value
    assert isinstance(error, errors.SchemaError)
    assert error.pointer == "/properties/a/type"
    assert error.hint is not None


def test_the_public_exceptions_can_be_raised() -> None:
    for each in (xgr.InvalidJSONError, xgr.InvalidStructuralTagError, xgr.DeserializeFormatError):
        with pytest.raises(RuntimeError, match="why"):
            raise each("why")


def test_every_error_of_ours_has_a_form_that_xgrammars_callers_catch() -> None:
    def leaves(cls: type[errors.MaskwrightError]) -> set[type[errors.MaskwrightError]]:
        return {cls, *(leaf for each in cls.__subclasses__() for leaf in leaves(each))}

    own = {each for each in leaves(errors.MaskwrightError) if each.__module__ == "maskwright.errors"}
    known = exception._KNOWN
    assert own - {errors.MaskwrightError} <= set(known)
    assert all(issubclass(theirs, ours) and issubclass(theirs, RuntimeError) for ours, theirs in known.items())
