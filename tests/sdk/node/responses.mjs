// Holds the conversations that it gets on stdin by the Responses API, with the official openai Node SDK, and prints what
// it saw as JSON.
//
// in:  {base, model, way, tools, talks: [{prompts, result}]}
// out: [[{calls: [{id, name, arguments}], finish, text, last_finish}, ...], ...]   a list of turns for each talk

import assert from "node:assert/strict";
import { text } from "node:stream/consumers";

import OpenAI from "openai";

// Three ways to ask: a request's members in, the response out.
const ways = {
  whole: (client, request) => client.responses.create(request),

  // With the SDK's own accumulator, which throws at events that it does not know.
  async helper(client, request) {
    const stream = client.responses.stream(request);
    return stream.finalResponse();
  },

  async raw(client, request) {
    const items = [];
    let last;
    for await (const event of await client.responses.create({ ...request, stream: true })) {
      assert.equal(event.sequence_number, (last?.sequence_number ?? -1) + 1);
      if (event.type === "response.output_item.done") items.push(event.item);
      last = event;
    }
    assert.equal(last.type, "response.completed");
    assert.deepEqual(last.response.output, items);
    return last.response;
  },
};

const callsOf = (response) => response.output.filter((item) => item.type === "function_call");
const finishOf = (response) => (callsOf(response).length ? "tool_calls" : "stop");
const textOf = (response) =>
  response.output.flatMap((item) => (item.type === "message" ? item.content : [])).map((part) => part.text).join("");
const asInput = ({ parsed_arguments, parsed, ...item }) => item;

async function hold(client, ask, { model, tools }, talk) {
  const input = [];
  const turns = [];
  for (const prompt of talk.prompts) {
    input.push({ role: "user", content: prompt });
    const asked = await ask(client, { model, input, tools, store: false });
    input.push(...asked.output.map(asInput));
    const calls = callsOf(asked);
    for (const { call_id } of calls) input.push({ type: "function_call_output", call_id, output: talk.result });
    const said = await ask(client, { model, input, tools, store: false });
    input.push(...said.output.map(asInput));
    const shown = calls.map(({ call_id, name, arguments: given }) => ({ id: call_id, name, arguments: given }));
    turns.push({ calls: shown, finish: finishOf(asked), text: textOf(said), last_finish: finishOf(said) });
  }
  return turns;
}

const asked = JSON.parse(await text(process.stdin));
const client = new OpenAI({ apiKey: "sk-nobody", baseURL: asked.base, maxRetries: 0, timeout: 20_000 });
const held = [];
for (const talk of asked.talks) held.push(await hold(client, ways[asked.way], asked, talk));
console.log(JSON.stringify(held));
