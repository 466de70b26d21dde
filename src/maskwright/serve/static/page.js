// The page at `/`: a request to /v1/chat/completions from the form, its stream shown as it comes, and a few metrics.
// Tested in Chromium by web/tests/serve_page.test.js.
"use strict";

const $ = (id) => document.getElementById(id);

const EXAMPLES = {
  json_schema: `{
  "type": "object",
  "properties": {
    "customer": {"type": "string", "maxLength": 24},
    "express": {"type": "boolean"},
    "items": {
      "type": "array", "minItems": 1, "maxItems": 3,
      "items": {"type": "string", "maxLength": 16}
    }
  },
  "required": ["customer", "express", "items"],
  "additionalProperties": false
}`,
  tools: `[
  {"type": "function", "function": {
    "name": "get_weather",
    "description": "The weather in a city",
    "parameters": {
      "type": "object",
      "properties": {
        "city": {"type": "string", "maxLength": 20},
        "unit": {"enum": ["celsius", "fahrenheit"]}
      },
      "required": ["city", "unit"],
      "additionalProperties": false
    }}}
]`,
  regex: "(mon|tues|wednes|thurs|fri)day at [0-2][0-9]:[0-5][0-9]",
  ebnf: `root ::= sum
sum ::= product (("+" | "-") product)*
product ::= value (("*" | "/") value)*
value ::= [0-9]{1,3} | "(" sum ")"`,
  none: "",
};
const PROMPTS = {
  json_schema: "Write an order as JSON.",
  tools: "How is the weather in Paris?",
  regex: "When do we meet?",
  ebnf: "Write a sum.",
  none: "Tell me about yourself.",
};
const NAMES = { json_schema: "JSON Schema", tools: "Tools, as JSON", regex: "Regular expression", ebnf: "EBNF grammar", none: "" };
const FIGURES = {
  requests_running: "running",
  requests_waiting: "waiting",
  output_tokens_total: "output tokens",
  forced_tokens_total: "forced tokens",
  structures_cached: "structures cached",
  structure_cache_hits_total: "cache hits",
};

const written = { ...EXAMPLES };
let kind = "json_schema";
let running = null;

function showKind() {
  written[kind] = $("structure").value;
  const isPromptOurs = $("prompt").value === PROMPTS[kind];
  kind = document.querySelector("input[name=kind]:checked").value;
  if (isPromptOurs) $("prompt").value = PROMPTS[kind];
  $("structure").value = written[kind];
  $("structure").hidden = kind === "none";
  $("structure").setAttribute("aria-label", NAMES[kind]);
  $("choice-row").hidden = kind !== "tools";
}

function requestBody() {
  const body = {
    messages: [{ role: "user", content: $("prompt").value }],
    temperature: Number($("temperature").value),
    max_completion_tokens: Number($("max-tokens").value),
    stream: $("stream").checked,
  };
  if ($("seed").value !== "") body.seed = Number($("seed").value);
  if (body.stream) body.stream_options = { include_usage: true, include_pieces: true };
  const text = $("structure").value;
  if (kind === "json_schema") {
    body.response_format = { type: "json_schema", json_schema: { name: "output", schema: parsed(text, "The schema") } };
  } else if (kind === "tools") {
    body.tools = parsed(text, "The list of tools");
    body.tool_choice = $("tool-choice").value;
    body.parallel_tool_calls = false;
  } else if (kind !== "none") {
    body[kind] = text;
  }
  return body;
}

function parsed(text, what) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${what} is not valid JSON: ${error.message}`);
  }
}

// A disabled button would lose the focus of the keyboard. It does not go to the other button, which the same key press
// would push.
function showRunning(isRunning) {
  $("run").setAttribute("aria-disabled", isRunning);
  if (!isRunning && document.activeElement === $("stop")) $("output").focus();
  $("stop").disabled = !isRunning;
}

function headers() {
  const key = $("key").value;
  return key ? { Authorization: `Bearer ${key}` } : {};
}

async function run(event) {
  event.preventDefault();
  if (running) return;
  reset();
  $("legend").hidden = !$("stream").checked; // a whole reply does not say which text was forced
  const began = performance.now();
  const result = { first: null, usage: null, reason: null, calls: [], unpainted: [], frame: 0 };
  running = new AbortController();
  showRunning(true);
  try {
    const response = await fetch("v1/chat/completions", {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers() },
      body: JSON.stringify(requestBody()),
      signal: running.signal,
    });
    if (!response.ok) {
      if (response.status === 401) $("key-row").hidden = false;
      throw new Error(errorText(await response.json()));
    }
    $("state").textContent = "generating …";
    if ($("stream").checked) {
      for await (const data of events(response.body)) takeChunk(data, result, began);
    } else {
      takeWhole(await response.json(), result);
    }
    $("state").textContent = `finished: ${result.reason}`;
    showFigures(result, performance.now() - began);
  } catch (error) {
    if (error.name === "AbortError") {
      $("state").textContent = "stopped";
    } else {
      $("state").textContent = "";
      $("error").textContent = messageOf(error);
      $("error").hidden = false;
    }
  } finally {
    paint(result);
    running = null;
    showRunning(false);
    showMetrics();
  }
}

// What fetch throws where there is no answer says nothing that helps.
function messageOf(error) {
  return error instanceof TypeError ? "The server cannot be reached. Is it still running?" : error.message;
}

function errorText(answer) {
  const error = answer.error || { message: "no answer" };
  return error.param && !error.message.startsWith("at ") ? `${error.param}\n${error.message}` : error.message;
}

async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    buffer += value;
    const parts = buffer.split("\n\n");
    buffer = parts.pop();
    for (const part of parts) {
      const data = part.replace(/^data: /, "");
      if (data === "[DONE]") return;
      yield JSON.parse(data);
    }
  }
}

function takeChunk(data, result, began) {
  if (data.error) throw new Error(errorText(data));
  if (data.usage) result.usage = data.usage;
  for (const choice of data.choices) {
    for (const piece of choice.pieces || []) {
      if (result.first === null) result.first = performance.now() - began;
      result.unpainted.push(piece);
    }
    for (const call of choice.delta.tool_calls || []) {
      const known = (result.calls[call.index] ||= { name: "", arguments: "" });
      known.name += call.function.name || "";
      known.arguments += call.function.arguments || "";
    }
    if (choice.finish_reason) result.reason = choice.finish_reason;
  }
  result.frame ||= requestAnimationFrame(() => paint(result));
}

function takeWhole(data, result) {
  const choice = data.choices[0];
  result.usage = data.usage;
  result.reason = choice.finish_reason;
  result.unpainted.push({ text: choice.message.content || "", forced: false });
  result.calls = (choice.message.tool_calls || []).map((call) => call.function);
}

// Once a frame: pieces can come faster than the page is laid out, and its buttons have to react meanwhile.
function paint(result) {
  cancelAnimationFrame(result.frame);
  result.frame = 0;
  const output = $("output");
  for (const piece of result.unpainted) append(output, piece);
  result.unpainted = [];
  output.scrollTop = output.scrollHeight;
  showCalls(result.calls);
}

// Text goes into text nodes only: what a model writes is never markup.
function append(output, { text, forced }) {
  const last = output.lastChild;
  if (last !== null && (last.nodeName === "MARK") === forced) {
    last.firstChild.appendData(text);
  } else {
    const part = document.createElement(forced ? "mark" : "span");
    part.append(document.createTextNode(text));
    output.append(part);
  }
}

function showCalls(calls) {
  $("calls").hidden = calls.length === 0;
  $("calls").replaceChildren(
    ...calls.map((call) => {
      const line = document.createElement("div");
      const name = document.createElement("strong");
      name.textContent = call.name;
      line.append(name, ` ${call.arguments}`);
      return line;
    }),
  );
}

function reset() {
  $("output").replaceChildren();
  showCalls([]);
  $("figures").replaceChildren();
  $("error").hidden = true;
  $("state").textContent = "";
}

function showFigures(result, milliseconds) {
  const usage = result.usage || {};
  const forced = (usage.completion_tokens_details || {}).forced_tokens;
  fill($("figures"), [
    ["prompt", `${usage.prompt_tokens} tokens`],
    ["output", `${usage.completion_tokens} tokens`],
    forced === undefined ? null : ["forced", `${forced} tokens`],
    result.first === null ? null : ["first token", `${result.first.toFixed(1)} ms`],
    ["total", `${milliseconds.toFixed(0)} ms`],
  ]);
}

function fill(list, entries) {
  list.replaceChildren(
    ...entries.filter(Boolean).map(([name, value]) => {
      const group = document.createElement("div");
      const term = document.createElement("dt");
      const detail = document.createElement("dd");
      term.textContent = name;
      detail.textContent = value;
      group.append(term, detail);
      return group;
    }),
  );
}

async function showMetrics() {
  try {
    const text = await (await fetch("metrics", { headers: headers() })).text();
    const values = new Map(
      text.split("\n").filter((line) => line && !line.startsWith("#")).map((line) => line.split(" ")),
    );
    fill(
      $("metrics"),
      Object.entries(FIGURES).map(([name, shown]) => {
        const value = values.get(`maskwright_${name}`);
        return value === undefined ? null : [shown, Number(value).toLocaleString("en")];
      }),
    );
  } catch {
    fill($("metrics"), [["server", "not reachable"]]);
  }
}

async function showModel() {
  try {
    const response = await fetch("v1/models", { headers: headers() });
    const answer = await response.json();
    if (response.status === 401) $("key-row").hidden = false;
    if (!response.ok) throw new Error(errorText(answer));
    const { id, max_model_len: length } = answer.data[0];
    const shown = length.toLocaleString("en", { notation: length < 1e6 ? "standard" : "compact" });
    $("model").textContent = `model ${id} · context of ${shown} tokens`;
  } catch (error) {
    $("model").textContent = messageOf(error);
  }
}

for (const radio of document.querySelectorAll("input[name=kind]")) radio.addEventListener("change", showKind);
$("structure").value = EXAMPLES.json_schema;
$("form").addEventListener("submit", run);
$("form").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $("form").requestSubmit();
});
$("stop").addEventListener("click", () => running && running.abort());
$("key").addEventListener("change", () => { showModel(); showMetrics(); });
showModel();
showMetrics();
setInterval(() => document.hidden || showMetrics(), 2000);
