/** The structures, texts and prompts that the page begins with, one for each kind. */

const tool = {
  type: "structural_tag",
  format: {
    type: "triggered_tags",
    triggers: ["<tool_call>"],
    tags: [{
      type: "tag",
      begin: '<tool_call>\n{"name": "get_weather", "arguments": ',
      content: {
        type: "json_schema",
        json_schema: {
          type: "object",
          properties: { city: { type: "string" }, unit: { enum: ["celsius", "fahrenheit"] } },
          required: ["city", "unit"],
          additionalProperties: false,
        },
      },
      end: "}\n</tool_call>",
    }],
    at_least_one: true,
    stop_after_first: true,
  },
};

const person = {
  type: "object",
  properties: {
    name: { type: "string", maxLength: 40 },
    age: { type: "integer", minimum: 0, maximum: 150 },
    languages: { type: "array", items: { enum: ["English", "French", "German"] }, minItems: 1, maxItems: 3 },
  },
  required: ["name", "age", "languages"],
  additionalProperties: false,
};

/** @type {Record<string, {label: string, source: string, text: string, prompt: string, isJson?: boolean}>} */
export const EXAMPLES = {
  json_schema: {
    label: "JSON Schema",
    isJson: true,
    source: JSON.stringify(person, null, 2),
    text: '{"name": "Ada", "age": 36, "languages": ["English", "Latin"]}',
    prompt: "Describe Ada Lovelace as JSON: her name, age and languages.",
  },
  ebnf: {
    label: "EBNF",
    source: 'root ::= expr\nexpr ::= term (("+" | "-") term)*\nterm ::= factor (("*" | "/") factor)*\n' +
      'factor ::= number | "(" expr ")"\nnumber ::= [0-9]+ ("." [0-9]+)?\n',
    text: "3*(4+1.5)-2**2",
    prompt: "Write a sum of three numbers.",
  },
  lark: {
    label: "Lark",
    source: 'start: pair ("," pair)*\npair: NAME "=" (NUMBER | NAME)\nNAME: /[a-z_]+/\nNUMBER: /-?[0-9]+/\n' +
      "%ignore / +/\n",
    text: "width = 640, height = high, 5 = five",
    prompt: "Write the settings of a window: width=640, height=480.",
  },
  regex: {
    label: "Regex",
    source: "(?<year>20[0-9]{2})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
    text: "2031-02-31T00:00",
    prompt: "Answer with a date of the year 2024, such as 2024-05-17.",
  },
  structural_tag: {
    label: "Structural tag",
    isJson: true,
    source: JSON.stringify(tool, null, 2),
    text: '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo", "unit": "kelvin"}}\n</tool_call>',
    prompt: 'What is the weather in Oslo, in celsius? Answer with a <tool_call> of get_weather.',
  },
};
