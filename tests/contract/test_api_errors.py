"""The contract at the borders: bad text, bad buffers and impossible requests get a typed error, and change nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import maskwright
from maskwright.ir import plus, star
from oracle.comparing import compile_fresh, mask_of
from oracle.grammars import A, grammar
from oracle.vocabularies import BYTES, SMALL

WORDS = (SMALL.vocab_size + 31) // 32


@pytest.fixture
def matcher() -> maskwright.GrammarMatcher:
    return maskwright.GrammarMatcher(compile_fresh(grammar(star(A)), SMALL))


@pytest.fixture
def compiler() -> maskwright.GrammarCompiler:
    return maskwright.GrammarCompiler(BYTES.info())


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


BAD_BITMASKS = {
    "dtype int64": lambda: np.zeros((1, WORDS), np.int64),
    "dtype uint8": lambda: np.zeros((1, WORDS), np.uint8),
    "dtype float32": lambda: np.zeros((1, WORDS), np.float32),
    "too few words": lambda: np.zeros((1, WORDS - 1), np.int32),
    "no words": lambda: np.zeros((1, 0), np.int32),
    "no rows": lambda: np.zeros((0, WORDS), np.int32),
    "three axes": lambda: np.zeros((1, 1, WORDS), np.int32),
    "no axis": lambda: np.zeros((), np.int32),
    "every other word": lambda: np.zeros((1, 2 * WORDS), np.int32)[:, ::2],
    "columns first": lambda: np.zeros((WORDS, 2), np.int32).T,
    "reversed": lambda: np.zeros((1, WORDS), np.int32)[:, ::-1],
    "other byte order": lambda: np.zeros((1, WORDS), np.dtype(np.int32).newbyteorder()),
    "read-only": lambda: read_only(np.zeros((1, WORDS), np.int32)),
    "a list": lambda: [[0] * WORDS],
    "bytes": lambda: b"\0" * 4 * WORDS,
    "None": lambda: None,
}


@pytest.mark.parametrize("name", BAD_BITMASKS)
def test_bad_bitmask(name: str, matcher: maskwright.GrammarMatcher) -> None:
    with pytest.raises((maskwright.BitmaskError, TypeError)) as caught:
        matcher.fill_next_token_bitmask(BAD_BITMASKS[name]())
    assert isinstance(caught.value, maskwright.BitmaskError) or name in ("a list", "bytes", "None")
    assert len(str(caught.value)) > 10
    assert matcher.accept_token(0)


@pytest.mark.parametrize("index", [2, 100, -3, 2**40])
def test_bitmask_index_out_of_range(index: int, matcher: maskwright.GrammarMatcher) -> None:
    bitmask = maskwright.allocate_token_bitmask(2, SMALL.vocab_size)
    before = bitmask.copy()
    with pytest.raises((maskwright.BitmaskError, IndexError)):
        matcher.fill_next_token_bitmask(bitmask, index)
    assert (bitmask == before).all()


def test_allocate() -> None:
    bitmask = maskwright.allocate_token_bitmask(3, 33)
    assert (bitmask.shape, bitmask.dtype) == ((3, 2), np.int32)
    assert bitmask.flags.c_contiguous
    for arguments in ((-1, 10), (0, 10), (1, -1), (1, 0)):
        with pytest.raises(maskwright.BitmaskError):
            maskwright.allocate_token_bitmask(*arguments)
    with pytest.raises((maskwright.BitmaskError, ValueError)):
        maskwright.allocate_token_bitmask(1, 10, library="no such library")  # type: ignore[arg-type]


def test_torch_bitmasks(matcher: maskwright.GrammarMatcher) -> None:
    torch = pytest.importorskip("torch")
    bitmask = maskwright.allocate_token_bitmask(2, SMALL.vocab_size, library="torch")
    assert (tuple(bitmask.shape), bitmask.dtype) == ((2, WORDS), torch.int32)
    matcher.fill_next_token_bitmask(bitmask, 1)
    as_numpy = maskwright.allocate_token_bitmask(2, SMALL.vocab_size)
    matcher.fill_next_token_bitmask(as_numpy, 1)
    assert (bitmask[1].numpy() == as_numpy[1]).all()
    for bad in (
        torch.zeros((1, WORDS), dtype=torch.int64),
        torch.zeros((1, WORDS), dtype=torch.float32),
        torch.zeros((1, WORDS - 1), dtype=torch.int32),
        torch.zeros((1, 2 * WORDS), dtype=torch.int32)[:, ::2],
        torch.zeros((1, WORDS), dtype=torch.int32, device="meta"),
    ):
        with pytest.raises(maskwright.BitmaskError):
            matcher.fill_next_token_bitmask(bad)


def allowed_only(logits: Any, allowed: set[int]) -> bool:
    return all((logits[t] == -np.inf) == (t not in allowed) for t in range(len(logits)))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_apply_numpy(dtype: type, matcher: maskwright.GrammarMatcher) -> None:
    allowed = mask_of(matcher, SMALL.vocab_size)
    bitmask = maskwright.allocate_token_bitmask(2, SMALL.vocab_size)
    bitmask[:] = -1
    matcher.fill_next_token_bitmask(bitmask, 0)
    logits = np.ones((2, SMALL.vocab_size), dtype)
    maskwright.apply_token_bitmask_inplace(logits, bitmask)
    assert allowed_only(logits[0], allowed)
    assert (logits[1] == 1).all()
    assert (logits[0][sorted(allowed)] == 1).all()


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16"])
def test_apply_torch(name: str, matcher: maskwright.GrammarMatcher) -> None:
    torch = pytest.importorskip("torch")
    bitmask = maskwright.allocate_token_bitmask(1, SMALL.vocab_size, library="torch")
    matcher.fill_next_token_bitmask(bitmask)
    logits = torch.ones((1, SMALL.vocab_size), dtype=getattr(torch, name))
    maskwright.apply_token_bitmask_inplace(logits, bitmask)
    assert allowed_only(logits[0].float().numpy(), mask_of(matcher, SMALL.vocab_size))


def test_apply_to_some_rows() -> None:
    bitmask = np.zeros((3, WORDS), np.int32)
    logits = np.ones((3, SMALL.vocab_size), np.float32)
    maskwright.apply_token_bitmask_inplace(logits, bitmask, indices=[0, 2])
    assert [bool(np.isinf(row).all()) for row in logits] == [True, False, True]


def test_apply_treats_what_the_bitmask_does_not_cover_as_not_allowed() -> None:
    logits = np.ones((1, 70), np.float32)
    maskwright.apply_token_bitmask_inplace(logits, np.full((1, 1), -1, np.int32))
    assert allowed_only(logits[0], set(range(32)))
    logits = np.ones((1, 70), np.float32)
    maskwright.apply_token_bitmask_inplace(logits, np.zeros((1, 3), np.int32), vocab_size=40)
    assert allowed_only(logits[0], set(range(40, 70)))


@pytest.mark.parametrize(
    ("logits", "bitmask", "options"),
    [
        (np.ones((1, SMALL.vocab_size), np.int32), np.zeros((1, WORDS), np.int32), {}),
        (np.ones((1, SMALL.vocab_size), np.complex64), np.zeros((1, WORDS), np.int32), {}),
        (np.ones((1, SMALL.vocab_size), np.float32), np.zeros((1, WORDS), np.int64), {}),
        (np.ones((2, SMALL.vocab_size), np.float32), np.zeros((1, WORDS), np.int32), {}),
        (np.ones((1, 1, SMALL.vocab_size), np.float32), np.zeros((1, WORDS), np.int32), {}),
        (np.ones((1, SMALL.vocab_size), np.float32), np.zeros((1, WORDS), np.int32), {"indices": [1]}),
        (np.ones((1, SMALL.vocab_size), np.float32), np.zeros((1, WORDS), np.int32), {"indices": [-2]}),
        (read_only(np.ones((1, SMALL.vocab_size), np.float32)), np.zeros((1, WORDS), np.int32), {}),
    ],
    ids=["logits dtype", "complex64", "bitmask dtype", "rows differ", "axes", "index", "negative index", "read-only"],
)
def test_apply_refuses(logits: np.ndarray, bitmask: np.ndarray, options: dict[str, Any]) -> None:
    before = logits.copy()
    with pytest.raises((maskwright.BitmaskError, IndexError)):
        maskwright.apply_token_bitmask_inplace(logits, bitmask, **options)
    assert (logits == before).all()


@pytest.mark.parametrize("count", [3, 10, 2**31, -1])
def test_rollback_too_far(count: int, matcher: maskwright.GrammarMatcher) -> None:
    assert matcher.accept_tokens([0, 0]) == 2
    before = mask_of(matcher, SMALL.vocab_size)
    with pytest.raises(maskwright.MatcherError) as caught:
        matcher.rollback(count)
    assert str(count) in str(caught.value)
    assert matcher.num_accepted_tokens == 2
    assert mask_of(matcher, SMALL.vocab_size) == before


def test_a_row_that_does_not_exist(matcher: maskwright.GrammarMatcher) -> None:
    bitmask = maskwright.allocate_token_bitmask(1, SMALL.vocab_size)
    for row in (-1, 1, 5):
        with pytest.raises(maskwright.BitmaskError, match=f"no row {row} in the bitmask, which has 1 row\n"):
            matcher.fill_next_token_bitmask(bitmask, row)
    with pytest.raises(maskwright.BitmaskError, match="3 rows from row 0 on are needed") as raised:
        matcher.fill_draft_bitmask([0, 0], bitmask)
    assert "one more for each token of its draft" in str(raised.value)
    batch = maskwright.BatchGrammarMatcher([matcher.fork(), matcher.fork()])
    with pytest.raises(maskwright.BitmaskError, match="no row 1 in the bitmask"):
        batch.fill_next_token_bitmask(bitmask)
    with pytest.raises(maskwright.BitmaskError, match="row 0 is assigned to two sequences\n  hint: each entry"):
        batch.fill_next_token_bitmask(bitmask, [0, 0])
    logits = np.zeros((1, SMALL.vocab_size), np.float32)
    with pytest.raises(maskwright.BitmaskError, match="indices names row 1, but there are logits and a mask for 1 row"):
        maskwright.apply_token_bitmask_inplace(logits, bitmask, indices=[1])
    with pytest.raises(maskwright.BitmaskError, match="pass the logits first"):
        maskwright.apply_token_bitmask_inplace(bitmask, logits)


def test_rollback_of_nothing(matcher: maskwright.GrammarMatcher) -> None:
    matcher.rollback(0)
    with pytest.raises(maskwright.MatcherError):
        matcher.rollback()


@pytest.mark.parametrize("token", ["a", None, 1.5, [1], True])
def test_a_token_id_is_an_int(token: Any, matcher: maskwright.GrammarMatcher) -> None:
    with pytest.raises(TypeError):
        matcher.accept_token(token)
    assert matcher.num_accepted_tokens == 0


def test_numpy_ints_are_token_ids(matcher: maskwright.GrammarMatcher) -> None:
    assert matcher.accept_token(np.int64(0))
    assert matcher.accept_tokens(np.array([0, 0])) == 2


@pytest.mark.parametrize(
    "pattern", ["(", ")", "a{3,2}", "[b-a]", "*", "a**", "\\", "[", "(?P<n>", "(?<=a)b\\1", "[\\d-z"]
)
def test_regex_errors_point_at_the_place(pattern: str, compiler: maskwright.GrammarCompiler) -> None:
    if pattern == "a**" or pattern == "(?<=a)b\\1":
        expected: tuple[type[Exception], ...] = (maskwright.GrammarError, maskwright.LimitError)
    else:
        expected = (maskwright.RegexSyntaxError,)
    with pytest.raises(expected) as caught:
        compiler.compile_regex(pattern)
    if isinstance(caught.value, maskwright.RegexSyntaxError):
        assert caught.value.span is not None
        assert caught.value.line == 1


@pytest.mark.parametrize(
    "source",
    ["root ::= (", 'root ::= "a', "root ::= missing", "root = 3", "", "root ::= [a", 'other ::= "a"', "root ::= *"],
)
def test_ebnf_errors(source: str, compiler: maskwright.GrammarCompiler) -> None:
    with pytest.raises(maskwright.EbnfSyntaxError):
        compiler.compile_grammar(source)


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"type": "strin"}, "/type"),
        ({"type": 3}, "/type"),
        ({"properties": {"a/b": {"minLength": -1}}}, "/properties/a~1b/minLength"),
        ({"properties": {"x": {"pattern": "("}}}, "/properties/x/pattern"),
        (
            {"properties": {"x": {"x-grammar": {"syntax": "lark", "definition": "start:: a"}}}},
            "/properties/x/x-grammar",
        ),
        ({"required": "name"}, "/required"),
        ({"items": {"$ref": "#/$defs/none"}}, "/items/$ref"),
        ({"enum": 3}, "/enum"),
        ({"maxItems": "3"}, "/maxItems"),
        ({"anyOf": {}}, "/anyOf"),
        ({"properties": {"p": 3}}, "/properties/p"),
    ],
)
def test_schema_errors_name_the_pointer(schema: Any, pointer: str, compiler: maskwright.GrammarCompiler) -> None:
    with pytest.raises(maskwright.SchemaError) as caught:
        compiler.compile_json_schema(schema)
    assert caught.value.pointer.startswith(pointer)
    assert f"#{pointer}" in str(caught.value)


@pytest.mark.parametrize("schema", ["{", "", "[", "nul", '{"type": "string",}', 3, None, [], "[]"])
def test_what_is_no_schema(schema: Any, compiler: maskwright.GrammarCompiler) -> None:
    with pytest.raises((maskwright.SchemaError, TypeError)):
        compiler.compile_json_schema(schema)


@pytest.mark.parametrize(
    ("keyword", "value", "violation"),
    [
        ("unevaluatedItems", False, "[1]"),
        ("unevaluatedProperties", False, '{"a":1}'),
        ("dependentSchemas", {"a": {"required": ["b"]}}, '{"a":1}'),
        ("dependentRequired", {"a": ["b"]}, '{"a":1}'),
        ("patternProperties", {"^a": {"type": "string"}}, '{"a":1}'),
        ("contains", {"type": "integer"}, '["x"]'),
        ("uniqueItems", True, "[1,1]"),
        ("propertyNames", {"maxLength": 3}, '{"long":1}'),
        ("minProperties", 2, "{}"),
        ("maxProperties", 0, '{"a":1}'),
        ("not", {"required": ["a"]}, '{"a":1}'),
        ("oneOf", [True, True], "[]"),
        ("allOf", [{"type": "array"}, {"maxItems": 0}], "[1]"),
        ("if", True, "[]"),
        ("multipleOf", 3, "4"),
        ("format", "date", '"2023-02-29"'),
    ],
)
def test_7_enforced_or_refused_by_name(
    keyword: str, value: Any, violation: str, compiler: maskwright.GrammarCompiler
) -> None:
    """No keyword of the standard passes unseen: what is not enforced is refused with its pointer and a way out."""
    schema = {"properties": {"here": {keyword: value} | ({"then": False} if keyword == "if" else {})}}
    try:
        compiled = compiler.compile_json_schema(schema)
    except maskwright.UnsupportedSchemaError as error:
        refusal = error
    else:
        matcher = maskwright.GrammarMatcher(compiled)
        assert not (matcher.accept_string(f'{{"here":{violation}}}') and matcher.is_completed())
        return
    assert refusal.pointer.startswith("/properties/here")
    assert refusal.hint


def test_tokenizer_errors() -> None:
    from_vocab = maskwright.TokenizerInfo.from_vocab
    for arguments in (
        {"stop_token_ids": [7]},
        {"stop_token_ids": [1], "special_token_ids": [-1]},
        {"stop_token_ids": [1], "vocab_size": 1},
    ):
        with pytest.raises(maskwright.TokenizerError):
            from_vocab([b"a", b"b"], **arguments)  # type: ignore[arg-type]


def test_token_edges_outside_the_vocabulary() -> None:
    """Such an edge can never be taken: refused when the grammar is compiled, or no way to go."""
    g = grammar(plus(maskwright.ir.alt(A, maskwright.ir.tokens([10_000]))))
    try:
        compiled = compile_fresh(g, SMALL)
    except maskwright.GrammarError:
        return
    assert not maskwright.GrammarMatcher(compiled).accept_token(10_000)
