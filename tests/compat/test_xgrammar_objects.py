"""The objects of the compatibility module, driven as XGrammar's documentation drives them."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="an optional dependency")
pydantic = pytest.importorskip("pydantic", reason="an optional dependency")
from xgrammar_cases import BYTES, END, WORDS, accepts  # noqa: E402

import maskwright.compat.xgrammar as xgr  # noqa: E402

INFO = xgr.TokenizerInfo(WORDS)
COMPILER = xgr.GrammarCompiler(INFO)
ABA = 'root ::= "a" "b"* "a"'
RECORD = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]}


def test_objects_are_compared_by_identity_and_have_no_hash() -> None:
    twin = xgr.TokenizerInfo(WORDS)
    for one, other in ((INFO, twin), (xgr.Grammar.from_regex("a"), xgr.Grammar.from_regex("a"))):
        assert one == one
        assert one != other
        with pytest.raises(TypeError, match="unhashable"):
            hash(one)


def test_the_recursion_depth_is_kept_and_restored() -> None:
    before = xgr.get_max_recursion_depth()
    with xgr.max_recursion_depth(77):
        assert xgr.get_max_recursion_depth() == 77
    assert xgr.get_max_recursion_depth() == before
    with pytest.raises(RuntimeError), xgr.max_recursion_depth(88):
        raise RuntimeError
    assert xgr.get_max_recursion_depth() == before


def test_defaults_are_xgrammars() -> None:
    grammar = xgr.Grammar.from_json_schema(RECORD)
    for text, expected in (
        ('{"a":1}', True),
        ('{"a":1,"z":2}', False),
        ('{"b":"x","a":1}', False),
        ('{ "a" :\r\n\t1 }', True),
        ('{"a":' + " " * 500 + "1}", True),
        (' {"a":1}', False),
    ):
        assert accepts(grammar, text) == expected, text
    assert accepts(xgr.Grammar.from_json_schema(RECORD, strict_mode=False), '{"a":1,"z":2}')
    assert accepts(xgr.Grammar.from_json_schema(RECORD, any_order=True), '{"b":"x","a":1}')
    assert not accepts(xgr.Grammar.from_json_schema(RECORD, max_whitespace_cnt=2), '{   "a":1}')
    compact = xgr.Grammar.from_json_schema(RECORD, any_whitespace=False, separators=(",", ":"))
    assert accepts(compact, '{"a":1,"b":"x"}')
    assert not accepts(compact, '{"a": 1}')
    spaced = xgr.Grammar.from_json_schema(RECORD, any_whitespace=False)
    assert accepts(spaced, json.dumps({"a": 1, "b": "x"}))
    assert not accepts(spaced, '{"a":1}')
    indented = xgr.Grammar.from_json_schema(RECORD, any_whitespace=False, indent=2)
    assert accepts(indented, json.dumps({"a": 1, "b": "x"}, indent=2))


def test_indent_and_separators_have_no_effect_where_white_space_is_free() -> None:
    grammar = xgr.Grammar.from_json_schema(RECORD, indent=2, separators=(",", ":"))
    assert accepts(grammar, '{"a":1}')
    assert accepts(grammar, '{ "a" : 1 }')


def test_schemas_may_be_texts_dicts_or_models() -> None:
    class Model(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        a: int

    for schema in ('{"type":"integer"}', {"type": "integer"}):
        assert accepts(xgr.Grammar.from_json_schema(schema), "12")
    assert accepts(xgr.Grammar.from_json_schema(Model), '{"a": 1}')
    assert COMPILER.compile_json_schema(Model).memory_size_bytes > 0


def test_classes_of_regular_expressions_are_of_ascii() -> None:
    tag = {"format": {"type": "sequence", "elements": [{"type": "regex", "pattern": r"\d+"}]}}
    for grammar in (xgr.Grammar.from_regex(r"\d+"), xgr.Grammar.from_structural_tag(tag)):
        assert accepts(grammar, "12")
        assert not accepts(grammar, "१")
    assert not accepts(xgr.Grammar.from_regex(r"\w+"), "é")
    matcher = xgr.GrammarMatcher(COMPILER.compile_regex(r"\d"))
    assert not matcher.accept_string("१")
    assert matcher.accept_string("1")


def test_a_value_in_a_schema_is_not_taken_for_a_regex_format() -> None:
    value = {"type": "regex", "pattern": r"\d"}
    tag = {"format": {"type": "json_schema", "json_schema": {"const": value}}}
    assert accepts(xgr.Grammar.from_structural_tag(tag), json.dumps(value))


def test_union_concat_and_text_of_grammars() -> None:
    a, b = xgr.Grammar.from_ebnf('root ::= "a"'), xgr.Grammar.from_regex("b+")
    assert accepts(xgr.Grammar.union(a, b), "bb")
    assert accepts(xgr.Grammar.concat(a, b), "abb")
    again = xgr.Grammar.from_ebnf(str(xgr.Grammar.concat(a, b)))
    assert accepts(again, "ab")
    assert not accepts(again, "a")


def test_the_grammar_of_json_is_that_of_objects_and_arrays() -> None:
    json_grammar = xgr.Grammar.builtin_json_grammar()
    assert all(accepts(json_grammar, text) for text in ('{"a": [1, null]}', "[ 1, {} ]"))
    assert not any(accepts(json_grammar, text) for text in ("1", '"a"', "true", "null"))


def test_printing_the_converted_grammar(capsys: pytest.CaptureFixture[str]) -> None:
    xgr.Grammar.from_regex("a|b", print_converted_ebnf=True)
    assert "root ::= [a-b]" in capsys.readouterr().err


GRAMMARS = [
    xgr.Grammar.from_ebnf('start ::= "x" | "y"', root_rule_name="start"),
    xgr.Grammar.from_regex(r"\d{2}"),
    xgr.Grammar.from_json_schema(RECORD, any_order=True, max_whitespace_cnt=3),
    xgr.Grammar.from_lark("start: @n", named_grammars={"n": 'start: "q"'}),
    xgr.Grammar.from_structural_tag(
        {"format": {"type": "tag", "begin": "<", "content": {"type": "any_text"}, "end": ">"}}
    ),
    xgr.Grammar.builtin_json_grammar(),
]
GRAMMARS.append(xgr.Grammar.union(*GRAMMARS[:2], xgr.Grammar.concat(*GRAMMARS[2:4])))


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_grammars_come_back_from_their_serialized_form(grammar: xgr.Grammar) -> None:
    text = grammar.serialize_json()
    again = xgr.Grammar.deserialize_json(text)
    assert str(again) == str(grammar)
    assert again.serialize_json() == text
    info = xgr.TokenizerInfo(BYTES)
    compiled = xgr.GrammarCompiler(info).compile_grammar(grammar)
    restored = xgr.CompiledGrammar.deserialize_json(compiled.serialize_json(), info)
    assert mask_of(restored) == mask_of(compiled)
    assert str(restored.grammar) == str(grammar)


@pytest.mark.parametrize(
    "text",
    [
        '{"__VERSION__": "maskwright-1"}',
        '{"__VERSION__": "maskwright-1", "grammar": {}}',
        '{"__VERSION__": "maskwright-1", "grammar": {"ebnf": 3}}',
        '{"__VERSION__": "maskwright-1", "grammar": {"regex": "("}}',
        '{"__VERSION__": "maskwright-1", "grammar": {"union": [3]}}',
        '{"__VERSION__": "maskwright-1", "grammar": {"builtin": "no such"}}',
        '{"__VERSION__": "maskwright-1", "grammar": {"lark": "start: x"}}',
        '{"__VERSION__": "maskwright-1", "grammar": {"json_schema": "{}", "options": {"x": 1}}}',
        '{"__VERSION__": "maskwright-1", "grammar": ' + '{"union": [' * 800 + '{"regex": "a"}' + "]}" * 800 + "}",
    ],
)
def test_what_is_no_serialized_grammar_is_refused(text: str) -> None:
    with pytest.raises((xgr.DeserializeFormatError, xgr.InvalidJSONError)):
        xgr.Grammar.deserialize_json(text)


def test_a_serialized_grammar_may_nest_as_deep_however_much_stack_there_is() -> None:
    text = '{"__VERSION__": "maskwright-1", "grammar": ' + '{"union": [' * 100 + '{"regex": "a"}' + "]}" * 100 + "}"
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        with pytest.raises(xgr.DeserializeFormatError, match="nest deeper than 64"):
            xgr.Grammar.deserialize_json(text)
    finally:
        sys.setrecursionlimit(limit)


def test_grammars_are_joined_one_after_another() -> None:
    letters = [xgr.Grammar.from_regex(letter) for letter in "abcdefgh" * 20]
    union, row = letters[0], letters[0]
    for letter in letters[1:]:
        union, row = xgr.Grammar.union(union, letter), xgr.Grammar.concat(row, letter)
    assert str(union) == str(xgr.Grammar.union(*letters))
    assert str(row) == str(xgr.Grammar.concat(*letters))
    assert str(xgr.Grammar.deserialize_json(union.serialize_json())) == str(union)


def test_a_compiled_grammar_belongs_to_its_tokenizer() -> None:
    text = COMPILER.compile_grammar(ABA).serialize_json()
    with pytest.raises(xgr.DeserializeFormatError, match="another tokenizer"):
        xgr.CompiledGrammar.deserialize_json(text, xgr.TokenizerInfo(["a"]))


def mask_of(compiled: xgr.CompiledGrammar) -> list[list[int]]:
    bitmask = xgr.allocate_token_bitmask(1, compiled.tokenizer_info.vocab_size)
    xgr.GrammarMatcher(compiled).fill_next_token_bitmask(bitmask)
    return bitmask.tolist()  # type: ignore[no-any-return]


def test_vocabularies_of_each_kind() -> None:
    raw = xgr.TokenizerInfo(["a", b"\xff", "", "</s>"])
    assert raw.decoded_vocab == [b"a", b"\xff", b"", b"</s>"]
    assert (raw.stop_token_ids, raw.special_token_ids) == ([3], [2])
    level = xgr.TokenizerInfo(["Ġa", "Ċ", "<|im_end|>", "中"], xgr.VocabType.BYTE_LEVEL)
    assert level.decoded_vocab == [b" a", b"\n", b"<|im_end|>", "中".encode()]
    fallback = xgr.TokenizerInfo(["▁a", "<0x0A>", "<0xe4>", "</s>"], xgr.VocabType.BYTE_FALLBACK, add_prefix_space=True)
    assert fallback.decoded_vocab == [b" a", b"\n", b"\xe4", b"</s>"]
    assert fallback.add_prefix_space
    assert fallback.prepend_space_in_tokenization
    padded = xgr.TokenizerInfo(WORDS, vocab_size=50, stop_token_ids=2)
    assert padded.special_token_ids == list(range(17, 50))
    assert padded.stop_token_ids == [2]


@pytest.mark.parametrize("kind", list(xgr.VocabType))
def test_tokenizers_come_back_from_their_metadata_and_serialized_form(kind: xgr.VocabType) -> None:
    info = xgr.TokenizerInfo(["Ġa", "▁b", "</s>"], kind, vocab_size=40, add_prefix_space=True)
    again = xgr.TokenizerInfo.from_vocab_and_metadata(["Ġa", "▁b", "</s>"], info.dump_metadata())
    for other in (again, xgr.TokenizerInfo.deserialize_json(info.serialize_json())):
        assert other.decoded_vocab == info.decoded_vocab
        assert json.loads(other.dump_metadata()) == json.loads(info.dump_metadata())
    expected = {"vocab_type": kind.value, "vocab_size": 40, "add_prefix_space": True, "stop_token_ids": [2]}
    assert json.loads(info.dump_metadata()) == expected


@pytest.mark.parametrize("declared", [True, False])
def test_a_tokenizer_that_puts_a_space_first(declared: bool) -> None:
    pytest.importorskip("transformers", reason="an optional dependency")
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {"<unk>": 0, "</s>": 1, "▁": 2, "a": 3, "▁a": 4, **{f"<0x{i:02X}>": 5 + i for i in range(256)}}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=[("▁", "a")], unk_token="<unk>", byte_fallback=True))
    backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    strip = decoders.Strip(" ", 1, 0)
    backend.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), strip])
    backend.add_special_tokens([AddedToken("</s>", special=True)])
    options = {"eos_token": "</s>"} if declared else {}
    info = xgr.TokenizerInfo.from_huggingface(PreTrainedTokenizerFast(tokenizer_object=backend, **options))
    assert info.stop_token_ids == [1]
    assert info.add_prefix_space
    restored = xgr.TokenizerInfo.deserialize_json(info.serialize_json())
    assert restored.add_prefix_space
    text = xgr.GrammarCompiler(info).compile_regex("a").serialize_json()
    assert xgr.CompiledGrammar.deserialize_json(text, restored).tokenizer_info is restored


def test_the_compilers_cache() -> None:
    compiler = xgr.GrammarCompiler(INFO, cache_limit_bytes=1 << 20, max_threads=0)
    assert compiler.cache_limit_bytes == 1 << 20
    assert compiler.get_cache_size_bytes() == 0
    compiler.compile_grammar(ABA)
    compiler.compile_json_schema(RECORD)
    assert compiler.get_cache_size_bytes() > 0
    compiler.clear_cache()
    assert compiler.get_cache_size_bytes() == 0
    assert xgr.GrammarCompiler(INFO).cache_limit_bytes == -1


def test_a_matcher_step_by_step() -> None:
    matcher = xgr.GrammarMatcher(COMPILER.compile_grammar(ABA), max_rollback_tokens=2)
    bitmask = xgr.allocate_token_bitmask(2, INFO.vocab_size)
    assert matcher.fill_next_token_bitmask(bitmask, 1)
    assert xgr.testing._get_masked_tokens_from_bitmask(bitmask, 17, 1) == [i for i in range(17) if i not in (2, 4)]
    assert bitmask[0].tolist() == [-1]
    assert matcher.accept_token(4)
    assert not matcher.accept_token(300)
    assert not matcher.accept_token(-1)
    twin = matcher.fork()
    assert matcher.accept_token(2)
    assert matcher.is_completed()
    assert not matcher.is_terminated()
    assert matcher.accept_token(END)
    assert matcher.is_terminated()
    assert not matcher.accept_token(2)
    assert not matcher.accept_string("")
    assert not twin.is_terminated()
    with pytest.raises(RuntimeError, match="ended with a stop token"):
        matcher.fill_next_token_bitmask(bitmask)
    with pytest.raises(RuntimeError, match="ended with a stop token"):
        matcher.find_jump_forward_string()
    matcher.rollback(2)
    matcher.rollback(-1)
    assert not matcher.is_completed()
    assert matcher.max_rollback_tokens == -1
    matcher.reset()
    assert matcher.find_jump_forward_string() == "a"
    assert matcher.stop_token_ids == [END]
    assert matcher.temperature is None


def test_options_of_a_matcher() -> None:
    compiled = COMPILER.compile_grammar(ABA)
    assert xgr.GrammarMatcher(compiled, override_stop_tokens=3).stop_token_ids == [3]
    early = xgr.GrammarMatcher(compiled, terminate_without_stop_token=True, default_temperature=0.5)
    assert early.accept_string(b"aa")
    assert early.is_terminated()
    assert early.temperature == 0.5
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(early)


def test_debug_print_says_what_happened(capsys: pytest.CaptureFixture[str]) -> None:
    matcher = xgr.GrammarMatcher(COMPILER.compile_grammar(ABA))
    matcher.accept_token(2, debug_print=True)
    matcher.accept_string("zz", debug_print=True)
    matcher.fill_next_token_bitmask(xgr.allocate_token_bitmask(1, 17), debug_print=True)
    said = capsys.readouterr().err
    assert "token 2 is accepted" in said
    assert "'zz' is rejected" in said
    assert "row 0" in said


def test_an_output_that_has_ended_takes_no_text_in_a_batch_either() -> None:
    ended, open_ = xgr.GrammarMatcher(COMPILER.compile_grammar(ABA)), xgr.GrammarMatcher(COMPILER.compile_grammar(ABA))
    assert ended.accept_string("aba")
    assert ended.accept_token(END)
    assert not ended.accept_string("")
    assert xgr.BatchGrammarMatcher.batch_accept_string([ended, open_], ["", ""]) == [False, True]
    assert ended.is_terminated()


def test_copies_of_matchers_go_their_own_way() -> None:
    matcher = xgr.GrammarMatcher(COMPILER.compile_grammar(ABA))
    for copied in (copy.copy(matcher), copy.deepcopy(matcher)):
        assert copied.accept_string("aba")
        assert not matcher.is_completed()
    for unchanging in (INFO, COMPILER, COMPILER.compile_grammar(ABA), xgr.Grammar.from_regex("a")):
        assert copy.copy(unchanging) is unchanging
        assert copy.deepcopy(unchanging) is unchanging


def test_batches() -> None:
    compiled = COMPILER.compile_grammar(ABA)
    matchers = [xgr.GrammarMatcher(compiled), xgr.GrammarMatcher(compiled, default_temperature=0.25)]
    batch, bitmask = xgr.BatchGrammarMatcher(), xgr.allocate_token_bitmask(3, 17)
    batch.batch_fill_next_token_bitmask(matchers, bitmask, [2, 0])
    assert bitmask.tolist() == [[20], [-1], [20]]
    assert batch.batch_accept_token(matchers, [2, 3]) == [True, False]
    assert batch.batch_accept_string(matchers, ["b", b"a"]) == [True, True]
    batch.batch_rollback(matchers, [2, -1])
    batch.batch_rollback(matchers, -1)
    batch.batch_rollback(matchers[1:], 1)
    temperatures = torch.full((3,), 9.0)
    batch.batch_fill_temperature(matchers, temperatures, [2, 0])
    assert temperatures.tolist() == [0.25, 9.0, -1.0]


def test_a_tree_of_drafts() -> None:
    matcher = xgr.GrammarMatcher(COMPILER.compile_grammar(ABA))
    bitmask = xgr.allocate_token_bitmask(3, 17)
    tensors = [torch.tensor(values) for values in ([1, -1, -1], [-1, 2, -1], [0, 2, 3])]
    temperatures = torch.zeros(3)
    assert matcher.traverse_draft_tree(*tensors, bitmask, temperatures=temperatures)
    assert bitmask.tolist() == [[20], [12], [0]]
    assert temperatures.tolist() == [-1.0, -1.0, -1.0]
    assert xgr.testing._traverse_draft_tree(*tensors, matcher, bitmask)


def test_captures_come_in_the_order_in_which_they_end() -> None:
    lark = 'start: outer\nouter[capture]: "<" inner ">"\ninner[capture]: /[a-z]+/'
    matcher = xgr.GrammarMatcher(COMPILER.compile_lark(lark))
    assert matcher.accept_string("<ab>")
    assert matcher.get_captures() == [("inner", b"ab"), ("outer", b"<ab>")]


@pytest.mark.parametrize("backend", ["auto", "cpu", "torch_native"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_masks_are_applied_by_each_backend(backend: Any, dtype: Any) -> None:
    logits, bitmask = torch.zeros(3, 40, dtype=dtype), torch.tensor([[5, -1], [5, 0], [0, 1]], dtype=torch.int32)
    expected = torch.zeros_like(logits)
    allowed = xgr.testing.bitmask_to_bool_mask(bitmask, 40)
    expected[1:].masked_fill_(~allowed[1:], -torch.inf)
    xgr.apply_token_bitmask_inplace(logits, bitmask, indices=[1, 2], backend=backend)
    assert torch.equal(logits, expected)
    xgr.apply_token_bitmask_inplace(logits, bitmask, backend=backend)
    assert torch.equal(logits.isinf(), ~allowed)


def test_the_backend_that_torch_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    from maskwright.compat.xgrammar.kernels import apply_token_bitmask_inplace_torch_compile as module

    traced = []

    def backend(graph: Any, inputs: Any) -> Any:  # traced, but run as it is: no compiler of C++ is needed
        traced.append(graph)
        return graph.forward

    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=backend))
    module._compiled.cache_clear()
    bitmask = torch.tensor([[5, -1], [5, 0], [0, 1]], dtype=torch.int32)
    allowed = xgr.testing.bitmask_to_bool_mask(bitmask, 40)
    by_kernels = (
        lambda logits: module.apply_token_bitmask_inplace_kernel_no_indices_torch_compile(logits, bitmask, 40),
        lambda logits: module.apply_token_bitmask_inplace_kernel_indices_torch_compile(logits, bitmask, 40, [0, 1, 2]),
        lambda logits: xgr.apply_token_bitmask_inplace(logits, bitmask, backend="torch_compile"),
        lambda logits: xgr.apply_token_bitmask_inplace(logits, bitmask, backend="torch_compile", indices=[2, 0, 1]),
    )
    for apply in by_kernels:
        logits = torch.zeros(3, 40)
        apply(logits)
        assert torch.equal(logits.isinf(), ~allowed)
    module._compiled.cache_clear()
    assert traced


def test_logits_beyond_the_bitmask_are_left_alone() -> None:
    for backend in ("auto", "torch_native"):
        logits = torch.zeros(1, 40)
        xgr.apply_token_bitmask_inplace(logits, torch.tensor([[5]], dtype=torch.int32), backend=backend)
        assert logits[0, 32:].tolist() == [0.0] * 8
        assert logits[0].isinf().sum() == 30
        row = torch.zeros(40)
        xgr.apply_token_bitmask_inplace(row, torch.tensor([5, 5], dtype=torch.int32), vocab_size=3, backend=backend)
        assert row.isinf().nonzero().flatten().tolist() == [1]


def test_bool_masks_and_bitmasks() -> None:
    allowed = torch.rand(3, 70) < 0.5
    bitmask = xgr.testing.bool_mask_to_bitmask(allowed)
    assert bitmask.shape == (3, 3)
    assert torch.equal(xgr.testing.bitmask_to_bool_mask(bitmask, 70), allowed)
    xgr.reset_token_bitmask(bitmask)
    assert bool((bitmask == -1).all())
    assert xgr.get_bitmask_shape(3, 70) == (3, 3)
    assert xgr.bitmask_dtype is torch.int32
    assert xgr.testing._is_single_token_bitmask(torch.tensor([[4]], dtype=torch.int32), 17) == (True, 2)
    assert xgr.testing._is_single_token_bitmask(torch.tensor([[5]], dtype=torch.int32), 17) == (False, -1)


@pytest.mark.parametrize("as_array", [False, True])
def test_a_mask_that_takes_too_much_work_leaves_only_the_end(as_array: bool, caplog: pytest.LogCaptureFixture) -> None:
    info = xgr.TokenizerInfo([*("a" * length for length in range(1, 120)), "</s>", "b"])
    compiler, stop = xgr.GrammarCompiler(info), info.stop_token_ids[0]
    doubling = [f"r{i} ::= r{i + 1}? r{i + 1}?" for i in range(60)]
    ambiguous = compiler.compile_grammar("\n".join(['root ::= r0 "b"', *doubling, 'r60 ::= "a"']))
    matcher, other = xgr.GrammarMatcher(ambiguous), xgr.GrammarMatcher(compiler.compile_regex("b+"))
    bitmask: Any = xgr.allocate_token_bitmask(2, info.vocab_size)
    bitmask = bitmask.numpy() if as_array else bitmask
    only_stop = [1 << stop % 32 if word == stop // 32 else 0 for word in range(bitmask.shape[1])]
    assert matcher.fill_next_token_bitmask(bitmask, 1)
    assert bitmask.tolist() == [[-1] * len(only_stop), only_stop]
    assert "only stop tokens are left" in caplog.text
    assert not matcher.accept_token(stop)
    xgr.BatchGrammarMatcher().batch_fill_next_token_bitmask([other, matcher], bitmask)
    assert bitmask[1].tolist() == only_stop
    assert bitmask[0].tolist() == [0, 0, 0, 1 << 120 % 32]
