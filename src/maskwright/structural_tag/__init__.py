"""Structural tags: outputs that mix free text and structures, such as tool calls and reasoning.

    tag = StructuralTag(format=TriggeredTagsFormat(triggers=["<f="], tags=[TagFormat("<f=now>", {"type": …}, "</f>")]))
    grammar = Grammar.from_structural_tag(tag)

The folders in the order of the work, each over those before it:
    texts       special tokens inside strings (tokens.py), where free text ends (stops.py, ends.py, patterns.py)
    formats     the classes, read and checked: fields.py, base.py, classes.py, tag.py
    arguments   values by JSON Schema, as JSON (snippets.py) or in a model's own style (spelled.py)
    lowering    to the IR
    families    tags for models' formats, made of tools and a tool choice (request.py)
What earlier requests had is found by content (formats/kept.py); `maskwright.events` reads what comes out.
Tested by tests/structural_tag/.
"""

from __future__ import annotations

from maskwright.inputs.schema_inputs import tool_of as tool_of
from maskwright.structural_tag.families import default_reasoning as default_reasoning
from maskwright.structural_tag.families import get_model_structural_tag as get_model_structural_tag
from maskwright.structural_tag.families import model_families as model_families
from maskwright.structural_tag.families import register_model_structural_tag as register_model_structural_tag
from maskwright.structural_tag.formats.base import Format as Format
from maskwright.structural_tag.formats.classes import AnyTextFormat as AnyTextFormat
from maskwright.structural_tag.formats.classes import AnyTokensFormat as AnyTokensFormat
from maskwright.structural_tag.formats.classes import ConstStringFormat as ConstStringFormat
from maskwright.structural_tag.formats.classes import DispatchFormat as DispatchFormat
from maskwright.structural_tag.formats.classes import ExcludeTokenFormat as ExcludeTokenFormat
from maskwright.structural_tag.formats.classes import GrammarFormat as GrammarFormat
from maskwright.structural_tag.formats.classes import JSONSchemaFormat as JSONSchemaFormat
from maskwright.structural_tag.formats.classes import OptionalFormat as OptionalFormat
from maskwright.structural_tag.formats.classes import OrFormat as OrFormat
from maskwright.structural_tag.formats.classes import PlusFormat as PlusFormat
from maskwright.structural_tag.formats.classes import QwenXMLParameterFormat as QwenXMLParameterFormat
from maskwright.structural_tag.formats.classes import RegexFormat as RegexFormat
from maskwright.structural_tag.formats.classes import RepeatFormat as RepeatFormat
from maskwright.structural_tag.formats.classes import SequenceFormat as SequenceFormat
from maskwright.structural_tag.formats.classes import StarFormat as StarFormat
from maskwright.structural_tag.formats.classes import TagFormat as TagFormat
from maskwright.structural_tag.formats.classes import TagsWithSeparatorFormat as TagsWithSeparatorFormat
from maskwright.structural_tag.formats.classes import TokenDispatchFormat as TokenDispatchFormat
from maskwright.structural_tag.formats.classes import TokenFormat as TokenFormat
from maskwright.structural_tag.formats.classes import TokenTriggeredTagsFormat as TokenTriggeredTagsFormat
from maskwright.structural_tag.formats.classes import TriggeredTagsFormat as TriggeredTagsFormat
from maskwright.structural_tag.formats.named_tag import NamedTagFormat as NamedTagFormat
from maskwright.structural_tag.formats.tag import StructuralTag as StructuralTag
from maskwright.structural_tag.request import ToolRequest as ToolRequest
from maskwright.structural_tag.tools import Tool as Tool
