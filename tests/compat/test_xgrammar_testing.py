"""The helpers of `xgr.testing`."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

pytest.importorskip("torch", reason="an optional dependency")
pytest.importorskip("pydantic", reason="an optional dependency")
from xgrammar_cases import WORDS, accepts

import maskwright.compat.xgrammar as xgr
from maskwright.compat.xgrammar import testing

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def test_schemas_and_patterns_as_ebnf() -> None:
    printed = testing._json_schema_to_ebnf(SCHEMA)
    assert printed.startswith("root ::= ")
    assert printed.endswith("\n")
    grammar = xgr.Grammar.from_ebnf(printed)
    assert accepts(grammar, '{"a": 1}')
    assert not accepts(grammar, '{"a": 1, "b": 2}')
    compact = xgr.Grammar.from_ebnf(testing._json_schema_to_ebnf(json.dumps(SCHEMA), any_whitespace=False))
    assert accepts(compact, '{"a": 1}')
    assert not accepts(compact, '{"a":1}')
    assert testing._regex_to_ebnf("a+") == 'root ::= "a"+\n'
    assert testing._regex_to_ebnf("a+", with_rule_name=False) == '"a"+'


@pytest.mark.parametrize("style", ["qwen_xml", "minimax_xml", "deepseek_xml", "glm_xml", "cohere_xml"])
def test_arguments_in_the_styles_of_models(style: Any) -> None:
    grammar = xgr.Grammar.from_ebnf(testing._json_schema_to_ebnf(SCHEMA, json_format=style))
    tag = {"format": {"type": "json_schema", "json_schema": SCHEMA, "style": style}}
    sample = {
        "qwen_xml": "<parameter=a>\n1\n</parameter>",
        "minimax_xml": '<parameter name="a">1</parameter>',
        "deepseek_xml": '<｜DSML｜parameter name="a" string="false">1</｜DSML｜parameter>',
        "glm_xml": "<arg_key>a</arg_key><arg_value>1</arg_value>",
        "cohere_xml": '<cofl:value name="a" type="json">1</cofl:value>',
    }[style]
    for each in (grammar, xgr.Grammar.from_structural_tag(tag)):
        assert accepts(each, sample)
        assert not accepts(each, sample.replace("1", "x"))


@pytest.mark.parametrize(("start", "end"), [(3, 120), (-5, 7), (None, 12), (5, None), (None, None)])
def test_a_range_as_a_regular_expression(start: int | None, end: int | None) -> None:
    pattern = re.compile(testing._generate_range_regex(start, end))
    for number in range(-30, 150):
        inside = (start is None or start <= number) and (end is None or number <= end)
        assert bool(pattern.match(str(number))) == inside, number


def test_matchers_for_texts() -> None:
    assert testing._is_grammar_accept_string('root ::= "a"', "a")
    grammar = xgr.Grammar.from_regex("ab")
    assert not testing._is_grammar_accept_string(grammar, "a")
    assert testing._is_grammar_accept_string(grammar, "a", require_termination=False)
    matcher = testing._get_matcher_from_grammar(grammar)
    assert matcher.accept_string("ab")
    assert matcher.is_terminated()
    info = xgr.TokenizerInfo(WORDS)
    held = testing._get_matcher_from_grammar_and_tokenizer_info(grammar, info, default_temperature=0.5)
    assert held.accept_string("ab")
    assert not held.is_terminated()
    assert held.temperature == 0.5


def test_time_is_printed_where_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert testing._is_grammar_accept_string('root ::= "a"', "a", print_time=True, debug_print=True)
    assert "accept_string took" in capsys.readouterr().err


def test_what_shows_the_rules() -> None:
    grammar = xgr.Grammar.from_ebnf('root ::= a b\na ::= "x"?\nb ::= "y"')
    rules = testing._print_grammar_fsms(grammar).splitlines()
    names = [rule.split()[0] for rule in grammar._grammar.dump().splitlines()]
    assert [line.split()[0] for line in rules] == names
    compiled = xgr.GrammarCompiler(xgr.TokenizerInfo([*WORDS, "x", "y"])).compile_grammar(grammar)
    indices = {rule.name: index for index, rule in enumerate(grammar._grammar.ir.rules)}
    assert testing._get_allow_empty_rule_ids(compiled) == [indices["a"]]
    assert testing._is_rule_fsm_accept_string(grammar, indices["b"], "y")
    assert not testing._is_rule_fsm_accept_string(grammar, indices["b"], "x")
    with pytest.raises(IndexError):
        testing._is_rule_fsm_accept_string(grammar, 99, "x")
    assert str(testing._ebnf_to_grammar_no_normalization('root ::= (("a"))')) == 'root ::= "a"'


def test_passes_return_the_grammar() -> None:
    grammar = xgr.Grammar.from_regex("a")
    assert testing.GrammarFunctor.rule_inliner(grammar) is grammar
    assert testing.GrammarFunctor.fsm_builder(grammar) is grammar
