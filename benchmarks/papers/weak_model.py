"""A weak model, trained on the spot: what do its calls and XML documents come to, with constraints and without?

    python benchmarks/papers/weak_model.py                  trains for half a minute, then prints the table
    python benchmarks/papers/weak_model.py --steps 1500     a better model

The model is a GRU of 192 units over byte-level BPE of 512 tokens, trained on requests with the call that they ask for

    ask: wake me at 7 on weekdays
    {"name": "set_alarm", "parameters": {"hour": 7, "days": "weekdays"}}

and on XML documents of nested elements. It sees each kind of text a few thousand times, and comes out about as good as
models are on formats that they know little of: the form is familiar, and often wrong. Outputs are sampled at
temperature 1 from the same model with the same seeds, without masks, and with those of each engine. They are judged by
`json.loads` and jsonschema, and by Python's XML parser. An output that does not end within `--max-tokens` is not valid;
"with a budget" means that Maskwright's matcher knows this limit, so that outputs end in time.
    valid     it parses, and is what was asked for: a known function with arguments that its schema allows; well-formed
              XML of known elements
    name      the function is the one of the request
    exact     the whole call is
Used by the papers' tables of validity and accuracy (xgrammar_table4.py, xgrammar2_fig9_10.py).
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any, NamedTuple

import jsonschema
import torch
from common import peers, report, table

import maskwright as mw
from maskwright.grammars import Source

Schema = dict[str, Any]

_CITIES = ["Paris", "Oslo", "Lima", "Cairo", "Quito", "Seoul", "Porto", "Turin"]
_DAYS = ["weekdays", "weekends", "every day"]
_GENRES = ["jazz", "rock", "folk", "opera"]
_ITEMS = ["milk", "bread", "apples", "coffee", "rice", "soap"]
_PEOPLE = ["Ada", "Bob", "Chloe", "Dan", "Eve"]


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


FUNCTIONS: dict[str, Schema] = {
    "get_weather": _object(city={"type": "string"}, unit={"enum": ["celsius", "fahrenheit"]}, days={"type": "integer"}),
    "set_alarm": _object(hour={"type": "integer", "minimum": 0, "maximum": 23}, days={"enum": _DAYS}),
    "play_music": _object(genre={"enum": _GENRES}, volume={"type": "number"}, shuffle={"type": "boolean"}),
    "add_items": _object(items={"type": "array", "items": {"type": "string"}, "minItems": 1}, owner={"type": "string"}),
    "send_message": _object(to={"type": "string"}, text={"type": "string"}, urgent={"type": "boolean"}),
}


def _some_call(r: random.Random) -> tuple[str, str, dict[str, Any]]:
    """A request, the function it asks for, and the arguments."""
    name = r.choice(list(FUNCTIONS))
    city, person, days, hour = r.choice(_CITIES), r.choice(_PEOPLE), r.choice(_DAYS), r.randrange(24)
    if name == "get_weather":
        unit, count = r.choice(["celsius", "fahrenheit"]), r.randrange(1, 9)
        return f"weather in {city} for {count} days in {unit}", name, {"city": city, "unit": unit, "days": count}
    if name == "set_alarm":
        return f"wake me at {hour} on {days}", name, {"hour": hour, "days": days}
    if name == "play_music":
        genre, volume, mixed = r.choice(_GENRES), r.randrange(1, 20) / 2, r.random() < 0.5
        how = "in any order" if mixed else "in order"
        return f"play {genre} at {volume} {how}", name, {"genre": genre, "volume": volume, "shuffle": mixed}
    if name == "add_items":
        items = r.sample(_ITEMS, r.randrange(1, 5))
        return f"put {' and '.join(items)} on the list of {person}", name, {"items": items, "owner": person}
    urgent = r.random() < 0.5
    text = f"{r.choice(_ITEMS)} is in {city}"
    asked = f"tell {person} {'at once ' if urgent else ''}that {text}"
    return asked, name, {"to": person, "text": text, "urgent": urgent}


def call_prompt(r: random.Random) -> tuple[str, str]:
    """A request as the model reads it, and the call that answers it."""
    asked, name, arguments = _some_call(r)
    return f"ask: {asked}\n", json.dumps({"name": name, "parameters": arguments})


LONGEST = 80  # tokens of a text that the model is trained on
ELEMENTS = ("catalog", "section", "entry", "note", "title")
XML_PROMPT = "xml:\n"
XML_GRAMMAR = (
    "root ::= element\nelement ::= "
    + " | ".join(f'"<{name}" attribute* ("/>" | ">" (element | text)* "</{name}>")' for name in ELEMENTS)
    + '\nattribute ::= " id=\\"" [a-z0-9]+ "\\""\ntext ::= [A-Za-z0-9 .] | "&amp;" | "&lt;"\n'
).replace("attribute*", "attribute?")


def xml_document(r: random.Random, depth: int = 0) -> str:
    name = ELEMENTS[min(depth, 2)] if depth < 2 or r.random() < 0.4 else r.choice(ELEMENTS)
    attribute = f' id="{r.choice("abcdefgh")}{r.randrange(100)}"' if r.random() < 0.5 else ""
    if depth and r.random() < 0.15:
        return f"<{name}{attribute}/>"
    if depth > 3 or (depth > 1 and r.random() < 0.5):
        inside = " ".join(r.choices([*_ITEMS, *_CITIES, "&amp;", "7", "42"], k=r.randrange(1, 4)))
    else:
        inside = "".join(xml_document(r, depth + 1) for _ in range(r.randrange(1, 4)))
    return f"<{name}{attribute}>{inside}</{name}>"


def is_valid_call(text: str) -> bool:
    try:
        call = json.loads(text)
        if not isinstance(call, dict) or set(call) != {"name", "parameters"} or call["name"] not in FUNCTIONS:
            return False
        jsonschema.validate(call["parameters"], FUNCTIONS[call["name"]])
    except (ValueError, TypeError, RecursionError, jsonschema.ValidationError):
        return False
    return True


def is_valid_xml(text: str) -> bool:
    try:
        tree = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return False
    return all(element.tag in ELEMENTS for element in tree.iter())


def call_schema() -> Schema:
    return {"anyOf": [_object(name={"const": name}, parameters=schema) for name, schema in FUNCTIONS.items()]}


class Gru(torch.nn.Module):
    def __init__(self, vocab_size: int, width: int) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(vocab_size, width)
        self.gru = torch.nn.GRU(width, width, batch_first=True)
        self.out = torch.nn.Linear(width, vocab_size)

    def forward(self, ids: Any, state: Any = None) -> tuple[Any, Any]:
        hidden, state = self.gru(self.embedding(ids), state)
        return self.out(hidden), state


class WeakModel(NamedTuple):
    network: Gru
    tokenizer: Any
    info: mw.TokenizerInfo
    end_id: int
    note: str

    def encode(self, text: str | bytes) -> list[int]:
        text = text.decode() if isinstance(text, bytes) else text
        return list(self.tokenizer.encode(text).ids)


def train(num_steps: int = 300, num_texts: int = 4000, width: int = 192, seed: int = 1) -> WeakModel:
    """Make the texts, the tokenizer and the model: the same each time."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    r = random.Random(seed)
    texts = [each for _ in range(num_texts // 2) for each in ("".join(call_prompt(r)), XML_PROMPT + xml_document(r))]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=512, initial_alphabet=alphabet, special_tokens=["<end>"], show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    end_id = tokenizer.token_to_id("<end>")
    encoded = [[*tokenizer.encode(text).ids, end_id] for text in texts]
    # Batches of texts of one length, as padding costs time.
    tokens = sorted((ids for ids in encoded if len(ids) <= LONGEST), key=len)
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # steps of a GRU are too small for two
    network = Gru(tokenizer.get_vocab_size(), width)
    optimizer = torch.optim.Adam(network.parameters(), lr=4e-3)
    begin, loss = time.perf_counter(), torch.zeros(())
    for _ in range(num_steps):
        first = r.randrange(len(tokens) - 32)
        rows = [torch.tensor(ids) for ids in tokens[first : first + 32]]
        batch = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-1)
        logits, _ = network(batch[:, :-1].clamp(min=0))
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten(), ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
    took = time.perf_counter() - begin
    note = f"GRU of {width} units, {tokenizer.get_vocab_size()} tokens, {num_steps} steps of 32 texts in {took:.0f} s"
    note += f", loss {loss.item():.2f} nats a token"
    info = mw.TokenizerInfo.from_huggingface(PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>"))
    return WeakModel(network.eval(), tokenizer, info, end_id, note)


class Constraint:
    """One output of many that an adapter holds to the structure that it has compiled."""

    def __init__(self, engine: Any, *, max_tokens: int | None = None) -> None:
        self.engine = copy.copy(engine)
        self.engine.reset()
        if max_tokens is not None:
            self.engine.matcher = mw.GrammarMatcher(engine.grammar, max_tokens=max_tokens)
        self.engine.bitmask = copy.deepcopy(engine.bitmask)

    def mask(self) -> Any:
        """Which tokens are allowed, one bool a token."""
        self.engine.fill()
        words = torch.as_tensor(self.engine.bitmask)[0]
        return (words[:, None] >> torch.arange(32, dtype=torch.int32) & 1).bool().flatten()

    def take(self, token: int) -> None:
        if not self.engine.accept(token):
            raise SystemExit(f"{type(self.engine).__name__} refuses a token that its mask allows")


@torch.inference_mode()
def sample(
    model: WeakModel, prompts: list[str], constrain: Callable[[], Constraint] | None, max_tokens: int, seed: int = 7
) -> list[str | None]:
    """Draw an output behind each prompt; None for one that does not end in time."""
    states, logits = [], []
    for prompt in prompts:
        row, state = model.network(torch.tensor([model.encode(prompt)]))
        states.append(state)
        logits.append(row[0, -1])
    state, rows = torch.cat(states, 1), torch.stack(logits)
    constraints = [constrain() for _ in prompts] if constrain else []
    outputs: list[list[int]] = [[] for _ in prompts]
    ended = [False] * len(prompts)
    generators = [torch.Generator().manual_seed(seed * 100_003 + i) for i in range(len(prompts))]
    for _ in range(max_tokens + 1):
        chosen = []
        for i, row in enumerate(rows):
            if ended[i]:
                chosen.append(model.end_id)
                continue
            if constraints:
                row = row.masked_fill(~constraints[i].mask()[: len(row)], -torch.inf)
            token = int(torch.multinomial(row.softmax(-1), 1, generator=generators[i]))
            chosen.append(token)
            ended[i] = token == model.end_id
            if not ended[i]:
                outputs[i].append(token)
                if constraints:
                    constraints[i].take(token)
        if all(ended):
            break
        following, state = model.network(torch.tensor(chosen)[:, None], state)
        rows = following[:, -1]
    decode = model.tokenizer.decode
    return [decode(ids) if end and len(ids) <= max_tokens else None for ids, end in zip(outputs, ended, strict=True)]


def constraints_of(
    model: WeakModel, structure: Schema | Source, max_tokens: int
) -> dict[str, Callable[[], Constraint] | None]:
    """What makes the constraint of an output, by engine; None for no constraint."""
    out: dict[str, Callable[[], Constraint] | None] = {"unconstrained": None}
    kind = "grammars" if isinstance(structure, Source) else "schemas"
    for name, engine in peers(kind, model.info, model).items():
        engine.compile(structure)
        out[name] = lambda engine=engine: Constraint(engine)
        if name == "maskwright":
            out["maskwright, with a budget"] = lambda engine=engine: Constraint(engine, max_tokens=max_tokens)
    return out


class Validity(NamedTuple):
    """Shares of outputs."""

    ended: float
    valid: float
    name: float
    exact: float


def of_calls(outputs: list[str | None], wanted: list[str]) -> Validity:
    n = len(outputs)
    calls = [text if text is not None and is_valid_call(text) else None for text in outputs]
    pairs = [(json.loads(text), json.loads(right)) for text, right in zip(calls, wanted, strict=True) if text]
    names = sum(call["name"] == right["name"] for call, right in pairs)
    exact = sum(call == right for call, right in pairs)
    return Validity(sum(text is not None for text in outputs) / n, len(pairs) / n, names / n, exact / n)


def of_xml(outputs: list[str | None]) -> Validity:
    n = len(outputs)
    valid = sum(text is not None and is_valid_xml(text) for text in outputs)
    return Validity(sum(text is not None for text in outputs) / n, valid / n, float("nan"), float("nan"))


def measured_calls(model: WeakModel, num_samples: int, max_tokens: int) -> dict[str, Validity]:
    r = random.Random(1001)  # not the seed of training
    asked = [call_prompt(r) for _ in range(num_samples)]
    prompts, wanted = [prompt for prompt, _ in asked], [call for _, call in asked]
    return {
        f"calls, {name}": of_calls(sample(model, prompts, constrain, max_tokens), wanted)
        for name, constrain in constraints_of(model, call_schema(), max_tokens).items()
    }


def measured_xml(model: WeakModel, num_samples: int, max_tokens: int) -> dict[str, Validity]:
    prompts = [XML_PROMPT] * num_samples
    return {
        f"XML, {name}": of_xml(sample(model, prompts, constrain, max_tokens))
        for name, constrain in constraints_of(model, Source(XML_GRAMMAR, "ebnf"), max_tokens).items()
    }


def measured(model: WeakModel, num_samples: int, max_tokens: int) -> dict[str, Validity]:
    """The whole experiment: by kind of text and engine."""
    return {**measured_calls(model, num_samples, max_tokens), **measured_xml(model, num_samples, max_tokens)}


def show(found: dict[str, Validity], columns: tuple[str, ...] = Validity._fields) -> None:
    rows = []
    for name, shares in found.items():
        shown = [getattr(shares, column) for column in columns]
        rows.append([name, *("–" if share != share else f"{share:.1%}" for share in shown)])
    table(["", *columns], rows)


def options(description: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300, help="of training")
    parser.add_argument("--samples", type=int, default=100, help="of each kind and engine")
    parser.add_argument("--max-tokens", type=int, default=160)
    return parser.parse_args()


def main() -> None:
    arguments = options(__doc__)
    model = train(arguments.steps)
    notes = f"{arguments.samples} outputs a row, of at most {arguments.max_tokens} tokens, temperature 1"
    report("A weak model, unconstrained and constrained", model.note, notes)
    show(measured(model, arguments.samples, arguments.max_tokens))


if __name__ == "__main__":
    main()
