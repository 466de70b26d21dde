"""Keywords that apply sub-schemas to the same instance: see keywords.py.

Tested by tests/frontends/json_schema/test_schema_keywords.py.
"""

from __future__ import annotations

from typing import Any

from maskwright.frontends.json_schema.normalise.site import Site
from maskwright.frontends.json_schema.normalise.unevaluated import all_subsets, blind
from maskwright.frontends.json_schema.read.places import DynamicError
from maskwright.frontends.json_schema.sets.shape import ANY_SHAPE, Shape


def _branches(site: Site, keyword: str, value: Any) -> list[Shape]:
    if not isinstance(value, list) or not value:
        raise site.malformed(keyword, "a non-empty array of schemas", value)
    return [site.shape(keyword, schema, i) for i, schema in enumerate(value)]


def allOf(site: Site, value: Any) -> None:
    site.applied.extend(_branches(site, "allOf", value))


def anyOf(site: Site, value: Any) -> None:
    branches = _branches(site, "anyOf", value)
    site.applied.append(site.norm.union(all_subsets(branches, site) if site.norm.tracks else branches))


def oneOf(site: Site, value: Any) -> None:
    branches = _branches(site, "oneOf", value)
    if len(branches) == 1:
        site.applied.extend(branches)
    elif any(site.norm.is_wider((site.child("oneOf", schema, i),)) for i, schema in enumerate(value)):
        site.refuse("oneOf", "part of a branch is left out, so more branches than one may match")
        site.applied.append(site.norm.union(branches))
    else:
        site.exclusive.append(branches)


def not_(site: Site, value: Any) -> None:
    if isinstance(value, dict) and value.keys() == {"not"}:
        inner = site.norm.document.child(site.child("not", value), value["not"], ((site.node.path, "not"), "not"))
        site.applied.append(blind(site.norm.shape(inner)))
        return
    place = (site.child("not", value),)
    shape = None if site.norm.is_wider(place) else site.norm.complement(site.shape("not", value), place[0].path)
    if shape is None:
        site.refuse("not", "the negation of this schema cannot be expressed exactly")
    else:
        site.applied.append(shape)


def if_(site: Site, value: Any) -> None:
    schema = site.schema
    if "then" not in schema and "else" not in schema and not site.norm.tracks:
        return
    condition = site.shape("if", value)
    if "then" not in schema and "else" not in schema:
        site.applied.append(site.norm.union([ANY_SHAPE, condition]))
        return
    place = (site.child("if", value),)
    negation = None if site.norm.is_wider(place) else site.norm.complement(condition, place[0].path)
    then = site.norm.intersect(condition, site.shape("then", schema.get("then", True)))
    if negation is None:
        site.refuse("if", "the negation of this schema cannot be expressed exactly")
        return
    otherwise = site.norm.intersect(negation, site.shape("else", schema.get("else", True)))
    site.applied.append(site.norm.union([then, otherwise]))


def ref_(site: Site, value: Any) -> None:
    site.applied.append(site.norm.shape(site.norm.document.target(site.node)))


def dynamicRef(site: Site, value: Any) -> None:
    document = site.norm.document
    if not document.dynamic:
        raise DynamicError
    site.applied.append(site.norm.shape(document.dynamic_target(site.node)))


def recursiveRef(site: Site, value: Any) -> None:
    document = site.norm.document
    if not document.dynamic:
        raise DynamicError
    site.applied.append(site.norm.shape(document.recursive_target(site.node)))
