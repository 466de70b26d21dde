"""Keywords that apply sub-schemas to the same instance: see keywords.py.

Tested by tests/frontends/json_schema/normalise/test_schema_keywords.py.
"""

from __future__ import annotations

from typing import Any

from maskwright.frontends.json_schema.normalise.complement import complement
from maskwright.frontends.json_schema.normalise.one_of import is_one_of_alone
from maskwright.frontends.json_schema.normalise.schema_context import SchemaContext
from maskwright.frontends.json_schema.normalise.unevaluated import all_subsets, without_seen
from maskwright.frontends.json_schema.read.places import DynamicError
from maskwright.frontends.json_schema.sets.shape import ANY_SHAPE, Shape


def _branches(context: SchemaContext, keyword: str, value: Any) -> list[Shape]:
    if not isinstance(value, list) or not value:
        raise context.malformed(keyword, "a non-empty array of schemas", value)
    return [context.shape(keyword, schema, i) for i, schema in enumerate(value)]


def allOf(context: SchemaContext, value: Any) -> None:
    if not isinstance(value, list) or not value:
        raise context.malformed("allOf", "a non-empty array of schemas", value)
    for i, schema in enumerate(value):
        if is_one_of_alone(schema):
            context.beside.append((len(context.applied), context.child("allOf", schema, i)))
            context.applied.append(ANY_SHAPE)
        else:
            context.applied.append(context.shape("allOf", schema, i))


def anyOf(context: SchemaContext, value: Any) -> None:
    branches = _branches(context, "anyOf", value)
    context.applied.append(context.union(all_subsets(branches, context) if context.norm.tracks else branches))


def oneOf(context: SchemaContext, value: Any) -> None:
    branches = _branches(context, "oneOf", value)
    if len(branches) == 1:
        context.applied.extend(branches)
    elif not all(branch.exact for branch in branches):
        context.refuse("oneOf", "part of a branch is left out, so more branches than one may match")
        context.applied.append(context.union(branches))
    else:
        context.exclusive.append(branches)


def not_(context: SchemaContext, value: Any) -> None:
    if isinstance(value, dict) and value.keys() == {"not"}:
        path = ((context.node.path, "not"), "not")
        inner = context.norm.document.child(context.child("not", value), value["not"], path)
        context.applied.append(without_seen(context.norm.shape(inner)))
        return
    node = context.child("not", value)
    shape = complement((node,), context.norm, node.path)
    if shape is None:
        context.refuse("not", "the negation of this schema cannot be expressed exactly")
    else:
        context.applied.append(shape)


def if_(context: SchemaContext, value: Any) -> None:
    schema = context.schema
    if "then" not in schema and "else" not in schema and not context.norm.tracks:
        return
    condition = context.shape("if", value)
    if "then" not in schema and "else" not in schema:
        context.applied.append(context.union([ANY_SHAPE, condition]))
        return
    node = context.child("if", value)
    negation = complement((node,), context.norm, node.path)
    then = context.intersect(condition, context.shape("then", schema.get("then", True)))
    if negation is None:
        context.refuse("if", "the negation of this schema cannot be expressed exactly")
        return
    otherwise = context.intersect(negation, context.shape("else", schema.get("else", True)))
    context.applied.append(context.union([then, otherwise]))


def ref_(context: SchemaContext, value: Any) -> None:
    context.applied.append(context.norm.shape(context.norm.document.target(context.node)))


def dynamicRef(context: SchemaContext, value: Any) -> None:
    document = context.norm.document
    if not document.dynamic:
        raise DynamicError
    context.applied.append(context.norm.shape(document.dynamic_target(context.node)))


def recursiveRef(context: SchemaContext, value: Any) -> None:
    document = context.norm.document
    if not document.dynamic:
        raise DynamicError
    context.applied.append(context.norm.shape(document.recursive_target(context.node)))
